// Waiting for a set of locks: bounded, jittered, without holding anything meanwhile, and clearing dead
// holders out of the way. The same over every backend.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "replicator/clock.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/locks/roll_forward.h"

namespace lockstep {

struct AcquireOptions {
  std::chrono::milliseconds limit{0};  ///< 0: one try, and one more for each dead holder that it clears away
  /// How long a waiting mark stands, and after how many refusals it is set: later than at once, so that
  /// short operations that meet by chance do not hold up all others.
  std::chrono::milliseconds mark{400};
  int refusals_before_mark = 2;
  std::uint64_t seed = 0;  ///< of the jitter; 0: another one each time
  std::stop_token stop = {};
};

/// Tries to have all of operation.locks until it has them (none), or until the limit has passed or a stop is
/// requested: the last refusal, with locks and marks given back and the operation still pending. Renews the
/// operation's lease while it waits. Throws LeaseLost when the operation was aborted meanwhile, and Error.
std::optional<Refusal> acquire(LockManager& locks, Operation& operation, RollForward& roll_forward,
                               const AcquireOptions& options);

/// What a sweep has found and done.
struct SweepResult {
  std::int64_t aborted = 0;  ///< dead before their commit, or commands under a lock
  std::int64_t rolled_forward = 0;
  std::int64_t released = 0;            ///< locks of holders that are gone
  std::int64_t needs_roll_forward = 0;  ///< dead after their commit, and `roll_forward` does not know them
};

/// Resolves every operation whose lease has run out and every lock whose holder is gone; prunes the journal.
SweepResult sweep(LockManager& locks, RollForward& roll_forward,
                  std::chrono::milliseconds prune_after = std::chrono::hours(24 * 7));

}  // namespace lockstep
