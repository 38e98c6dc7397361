// Waits for a set of locks: for a limited time, in a queue, holding nothing meanwhile, and clearing dead
// holders out of the way. The same over every backend.
//
// Nothing in an engine wakes a client that waits, so it asks again. The next in the queue asks often, one far
// behind seldom, and all the more seldom the longer nothing moves: a lock is idle for a small part of the
// time for which it was held. The queue only ever refuses: safety does not depend on it.
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
  /// For how long a place in the queue is kept at least without asking again: a client that dies while it
  /// waits holds up the others for that long.
  std::chrono::milliseconds place{400};
  /// After how many refusals it joins the queue of a lock that is only shared: not at once, so that one that
  /// meets sharers by chance does not delay all others.
  int refusals_by_sharers = 2;
  std::uint64_t seed = 0;  ///< of the jitter; 0: random
  std::stop_token stop = {};
};

/// Tries until the operation holds all of operation.locks; returns none then. When the limit passes or a stop
/// is requested, returns the last refusal: locks and places are given back, and the operation is still
/// pending. Renews the operation's lease while it waits. Throws LeaseLost if another process aborted the
/// operation meanwhile, and Error.
std::optional<Refusal> acquire(LockManager& locks, Operation& operation, RollForward& roll_forward,
                               const AcquireOptions& options);

}  // namespace lockstep
