// Clearing up after the dead without waiting for somebody to want what they hold.
#pragma once

#include <chrono>
#include <cstdint>

#include "replicator/locks/lock_manager.h"
#include "replicator/locks/roll_forward.h"

namespace lockstep {

struct SweepResult {
  std::int64_t aborted = 0;             ///< operations dead before their commit, or commands under a lock
  std::int64_t rolled_forward = 0;      ///< operations finished in the place of their dead owners
  std::int64_t needs_roll_forward = 0;  ///< dead after their commit, and `roll_forward` does not know them
  std::int64_t released = 0;            ///< locks whose holder has no entry in the journal any more
};

/// Resolves every operation whose lease has run out and every lock whose holder is gone, and removes journal
/// entries that were resolved before `prune_after` ago. Throws Error; what was done by then stays done.
SweepResult sweep(LockManager& locks, RollForward& roll_forward,
                  std::chrono::milliseconds prune_after = std::chrono::hours(24 * 7));

/// resolve(), and if that adopts the operation all that follows: rolls it forward, finishes and releases it.
/// Never kAdopted. Throws LeaseLost when somebody else was faster.
Resolution resolve_and_finish(LockManager& locks, RollForward& roll_forward, const std::string& holder,
                              const std::vector<LockName>& met);

}  // namespace lockstep
