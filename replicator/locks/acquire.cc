#include "replicator/locks/acquire.h"

#include <algorithm>
#include <random>

#include "replicator/backoff.h"
#include "replicator/error.h"
#include "replicator/locks/sweep.h"
#include "replicator/pause.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;

/// Short enough to take a lock soon after it is free, long enough that many who wait do not burden the
/// server.
constexpr Backoff::Limits kBackoff{milliseconds(20), milliseconds(500)};

std::uint64_t seed_of(const AcquireOptions& options) {
  return options.seed != 0 ? options.seed : std::random_device()();
}

class Acquisition {
 public:
  Acquisition(LockManager& locks, Operation& operation, RollForward& roll_forward,
              const AcquireOptions& options)
      : locks_(locks),
        operation_(operation),
        roll_forward_(roll_forward),
        options_(options),
        backoff_(kBackoff, seed_of(options)),
        end_(clock_.now() + options.limit),
        renewal_(locks.lease() / 3, clock_.now()) {}

  std::optional<Refusal> run() {
    while (true) {
      std::optional<Refusal> refusal;
      try {
        refusal = locks_.try_acquire(operation_, mark());
        if (!refusal) return std::nullopt;
        ++refusals_;
        // After a dead holder was cleared away, try again without waiting.
        if (cleared(*refusal)) continue;
      } catch (const Error& error) {
        if (!error.retryable() || !wait()) throw;
      }
      if (refusal && !wait()) {
        locks_.release(operation_);  // its waiting marks; the operation itself is still pending
        return refusal;
      }
      // It holds nothing, so only the journal has a lease.
      if (renewal_.due(clock_.now())) locks_.record(operation_);
    }
  }

 private:
  milliseconds mark() const {
    const bool waits = options_.limit > milliseconds(0);
    return waits && refusals_ >= options_.refusals_before_mark ? options_.mark : milliseconds(0);
  }

  /// False when no time is left or a stop was requested.
  bool wait() {
    cleared_in_a_row_ = 0;
    const auto left = std::chrono::ceil<milliseconds>(end_ - clock_.now());
    return left > milliseconds(0) && pause(std::min(backoff_.next(), left), options_.stop);
  }

  /// Whether a holder in the way was dead and is gone now. A lock's own lease only says when to ask the
  /// journal; a holder that is alive there is reported with the lease in the journal.
  bool cleared(Refusal& refusal) {
    bool any = false;
    for (LockHolder& holder : refusal.lock.holders) {
      if (!holder.until || *holder.until >= refusal.now || holder.id == operation_.id) continue;
      try {
        const Resolution resolution =
            resolve_and_finish(locks_, roll_forward_, holder.id, {refusal.lock.name});
        if (resolution.kind == Resolution::Kind::kGone) any = true;
        if (resolution.kind == Resolution::Kind::kAlive && resolution.until) holder.until = resolution.until;
        if (resolution.kind == Resolution::Kind::kNeedsRollForward) refusal.unfinished = holder.id;
      } catch (const LeaseLost&) {
        any = true;  // somebody else was faster
      }
    }
    return any && ++cleared_in_a_row_ <= kMaxClearedInARow;
  }

  static constexpr int kMaxClearedInARow = 8;

  LockManager& locks_;
  Operation& operation_;
  RollForward& roll_forward_;
  const AcquireOptions& options_;
  SystemClock clock_;
  Backoff backoff_;
  const SteadyTime end_;
  Every renewal_;
  int refusals_ = 0;
  int cleared_in_a_row_ = 0;
};

}  // namespace

std::optional<Refusal> acquire(LockManager& locks, Operation& operation, RollForward& roll_forward,
                               const AcquireOptions& options) {
  return Acquisition(locks, operation, roll_forward, options).run();
}

}  // namespace lockstep
