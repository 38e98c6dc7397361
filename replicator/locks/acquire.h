// Waits for a set of locks: for a limited time, with jittered pauses, holding nothing meanwhile, and clearing
// dead holders out of the way. The same over every backend.
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
  std::chrono::milliseconds limit{0};  ///< 0: one try, and one more for each dead holder cleared away
  /// How long a waiting mark lasts, and after how many refusals it is left: not at once, so that two short
  /// operations that meet by chance do not hold up all others.
  std::chrono::milliseconds mark{400};
  int refusals_before_mark = 2;
  std::uint64_t seed = 0;  ///< of the jitter; 0: random
  std::stop_token stop = {};
};

/// Tries until the operation holds all of operation.locks; returns none then. When the limit passes or a stop
/// is requested, returns the last refusal: locks and waiting marks are given back, and the operation is still
/// pending. Renews the operation's lease while it waits. Throws LeaseLost when somebody aborted the operation
/// meanwhile, and Error.
std::optional<Refusal> acquire(LockManager& locks, Operation& operation, RollForward& roll_forward,
                               const AcquireOptions& options);

}  // namespace lockstep
