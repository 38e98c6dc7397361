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

}  // namespace lockstep
