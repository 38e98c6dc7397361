#include "replicator/locks/lease_keeper.h"

#include <utility>

#include "replicator/error.h"
#include "replicator/pause.h"

namespace lockstep {
namespace {

/// The server's clock moves in steps of some 200 ms, so a lease may end that much earlier.
constexpr std::chrono::milliseconds kClockStep{250};

}  // namespace

SteadyTime end_of_lease(const LockManager& locks, SteadyTime since) {
  return since + locks.lease() - kClockStep;
}

LeaseKeeper::LeaseKeeper(LockManager& locks, Operation& operation, SteadyTime since,
                         std::function<void()> lost)
    : locks_(locks), operation_(operation), lost_(std::move(lost)), good_until_(end_of_lease(locks, since)) {
  thread_ = std::jthread([this, lease = locks.lease()](const std::stop_token& stop) { keep(stop, lease); });
}

LeaseKeeper::~LeaseKeeper() = default;

void LeaseKeeper::between_renewals(const std::function<void()>& action) {
  const MutexLock lock(in_use_);
  action();
}

std::optional<LeaseKeeper::Loss> LeaseKeeper::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return loss_;
}

void LeaseKeeper::keep(const std::stop_token& stop, std::chrono::milliseconds lease) {
  const SystemClock clock;
  std::chrono::milliseconds next = lease / 3;
  while (pause(next, stop)) {
    next = lease / 3;
    const MutexLock in_use(in_use_);
    const SteadyTime sent = clock.now();
    try {
      locks_.renew(operation_);
      good_until_ = end_of_lease(locks_, sent);
      continue;
    } catch (const LeaseLost& lost) {
      loss_ = Loss{lost.what(), lost.over()};
    } catch (const Error& error) {
      next = lease / 20;
      if (!error.retryable() || clock.now() >= good_until_.load()) loss_ = Loss{error.what()};
    }
    if (!loss_) continue;
    lost_();
    return;
  }
}

}  // namespace lockstep
