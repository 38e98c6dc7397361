// Locks that a command under `lockstep lock` hands down to the commands that it runs itself, by its
// environment: LOCKSTEP_LOCK has "<operation>=<token>" of each lock above, with spaces between them.
#pragma once

#include <string>
#include <vector>

#include "replicator/locks/lock_manager.h"

namespace lockstep {

/// The operations in LOCKSTEP_LOCK that hold their locks right now: those whose token and lease the journal
/// confirms. Others are left out, as nothing is handed down by a lock that is over, or is kept elsewhere.
std::vector<std::string> inherited_locks(LockManager& locks);

/// "LOCKSTEP_LOCK=…" for a command that runs under a lock and those that it was itself handed down.
std::string inheritance_of(const Operation& operation);

}  // namespace lockstep
