// Clears up after dead holders, whether or not their locks are wanted. (It has nothing to do with the job
// kind "sweep", which deletes documents.)
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "replicator/locks/lock_manager.h"
#include "replicator/locks/roll_forward.h"

namespace lockstep {

struct SweepResult {
  std::int64_t aborted = 0;         ///< operations that died before their commit, and commands under a lock
  std::int64_t rolled_forward = 0;  ///< operations finished for their dead owners
  std::int64_t needs_roll_forward = 0;     ///< died after their commit, and `roll_forward` cannot finish them
  std::int64_t under_lease = 0;            ///< left alone: their owners live, or have died just now
  std::int64_t released = 0;               ///< locks whose holder has no journal entry any more
  std::vector<std::string> failures = {};  ///< entries that could not be read or resolved, and why
};

/// How long the journal keeps operations that are over.
inline constexpr std::chrono::hours kHistory{24 * 7};

/// Resolves every operation whose lease has expired and every lock whose holder is gone, and removes journal
/// entries that were resolved longer than `prune_after` ago. An entry that cannot be resolved is a failure
/// and delays no other. Throws Error if the server is away; its work until then stays done.
SweepResult sweep(LockManager& locks, RollForward& roll_forward,
                  std::chrono::milliseconds prune_after = kHistory);

/// Calls resolve(). If that adopts the operation, rolls it forward, finishes and releases it; so it never
/// returns kAdopted. Throws LeaseLost if another process was faster.
Resolution resolve_and_finish(LockManager& locks, RollForward& roll_forward, const std::string& holder,
                              const std::vector<LockName>& met);

}  // namespace lockstep
