// The processes that this one has started, and all that those have started, wherever they went: into other
// process groups and sessions, or left behind by parents that have ended. A process that adopts orphans
// (PR_SET_CHILD_SUBREAPER) keeps those below it, too.
//
// Out of its reach: a process of another user, and one that a service starts on request (systemd-run, a
// container's daemon, at).
#pragma once

#include <sys/types.h>

#include <vector>

#include "replicator/clock.h"

namespace lockstep {

/// From now on orphans below this process become its children instead of init's.
void adopt_orphans();

/// The processes below this one, except those that have ended.
std::vector<pid_t> descendants();

/// Sends a signal to each of them except `spared`; 0: to each.
void signal_descendants(int number, pid_t spared = 0);

/// Ends all of them: by SIGTERM, and from `kill_at` on by SIGKILL. Reaps this process's children. Returns
/// false if some could not be ended within seconds. REQUIRES: this process has adopted orphans.
bool end_descendants(SteadyTime kill_at);

}  // namespace lockstep
