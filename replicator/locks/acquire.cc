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

/// Without a place in a queue. Short enough to take a lock soon after it is free, long enough that many
/// waiting clients do not burden the server.
constexpr milliseconds kMaxPause{500};
constexpr Backoff::Limits kBackoff{milliseconds(20), kMaxPause};

/// In a queue: so long for each client ahead and itself; and a part of the time without a move.
constexpr milliseconds kPauseOfAPlace{2};
constexpr int kPartOfTheTimeWithoutAMove = 8;

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
        // It holds nothing, so only the journal has a lease.
        if (renewal_.due(clock_.now())) locks_.record(operation_);
        refusal = ask();
        if (!refusal) return std::nullopt;
        // After a dead holder was cleared away, try again without waiting.
        if (cleared(*refusal) || joins(*refusal)) continue;
      } catch (const Error& error) {
        if (!error.retryable() || !wait(backoff_.next())) throw;
      }
      if (refusal && !wait(pause_after(*refusal))) {
        locks_.release(operation_);  // its places in queues; the operation itself is still pending
        return refusal;
      }
    }
  }

 private:
  std::optional<Refusal> ask() {
    const SteadyTime begin = clock_.now();
    const milliseconds place = queues_ ? std::max(options_.place, 3 * (pause_ + answer_)) : milliseconds(0);
    std::optional<Refusal> refusal =
        at_ ? locks_.try_again(operation_, *at_, place) : locks_.try_acquire(operation_, place);
    if (!refusal) return refusal;
    answer_ = std::chrono::ceil<milliseconds>(clock_.now() - begin);
    ++refusals_;
    if (at_ != refusal->lock.name || ahead_ != refusal->ahead) moved_ = clock_.now();
    at_ = refusal->lock.name;
    ahead_ = refusal->ahead;
    return refusal;
  }

  /// Whether it is to have a place from now on, and so to ask again at once.
  bool joins(const Refusal& refusal) {
    const bool waits = options_.limit > milliseconds(0) && !options_.stop.stop_requested();
    const bool by_sharers = refusal.lock.mode == LockMode::kShared && !refusal.queued;
    if (!waits || queues_ || (by_sharers && refusals_ < options_.refusals_by_sharers)) return false;
    queues_ = true;
    return true;
  }

  milliseconds pause_after(const Refusal& refusal) {
    if (!refusal.ahead) return backoff_.next();
    const milliseconds least =
        kPauseOfAPlace * static_cast<int>(std::min<std::size_t>(*refusal.ahead + 1, 100));
    const auto part =
        std::chrono::duration_cast<milliseconds>(clock_.now() - moved_) / kPartOfTheTimeWithoutAMove;
    pause_ = std::clamp(part, least, kMaxPause);
    return pause_;
  }

  /// False if no time is left or a stop was requested.
  bool wait(milliseconds time) {
    cleared_in_a_row_ = 0;
    const auto left = std::chrono::ceil<milliseconds>(end_ - clock_.now());
    return left > milliseconds(0) && pause(std::min(time, left), options_.stop);
  }

  /// Whether a holder in the way was dead and is gone now. A lock's own lease only determines when to ask the
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
        any = true;  // another process was faster
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
  bool queues_ = false;  ///< whether it asks for a place

  // Of the last refusal:
  std::optional<LockName> at_;
  std::optional<std::size_t> ahead_;
  SteadyTime moved_;        ///< when the two changed
  milliseconds answer_{0};  ///< how long it took
  milliseconds pause_{0};   ///< after it
};

}  // namespace

std::optional<Refusal> acquire(LockManager& locks, Operation& operation, RollForward& roll_forward,
                               const AcquireOptions& options) {
  return Acquisition(locks, operation, roll_forward, options).run();
}

}  // namespace lockstep
