#include "replicator/tree/tree_lease.h"

#include <random>
#include <utility>

#include "replicator/clock.h"
#include "replicator/pause.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;

constexpr Backoff::Limits kBackoff{milliseconds(100), milliseconds(2'000)};
constexpr milliseconds kTellAgain{10'000};

}  // namespace

TreeLease::TreeLease(LockManager& locks, Operation& operation, SteadyTime since, std::stop_token stop,
                     TreePatience patience)
    : locks_(locks),
      operation_(operation),
      token_(operation.token),
      stop_(std::move(stop)),
      patience_(std::move(patience)),
      keeper_(locks, operation, since, [this] { lost_ = true; }) {}

void TreeLease::check() {
  if (lost_) {
    throw LeaseLost(
        keeper_.stop()
            .value_or(LeaseKeeper::Loss{"the lease of the operation " + operation_.id + " is lost"})
            .reason,
        false);
  }
  if (!stop_.stop_requested()) return;
  throw Error({"finishing the operation " + operation_.id,
               cause_.empty() ? "interrupted" : "interrupted while it could not continue: " + cause_});
}

void TreeLease::progress(std::int64_t documents) {
  keeper_.between_renewals([&] { operation_.progress += documents; });
}

void TreeLease::record_task(const std::string& task) {
  keeper_.between_renewals([&] {
    operation_.task = task;
    locks_.record(operation_);
  });
}

void TreeLease::confirm() {
  keeper_.between_renewals([&] { locks_.record(operation_); });
}

void TreeLease::exceed(FencingToken fence) {
  keeper_.between_renewals([&] {
    locks_.raise(operation_, fence);
    token_ = operation_.token;
  });
}

void TreeLease::persist(const std::function<void()>& step) {
  const SystemClock clock;
  const SteadyTime begin = clock.now();
  Backoff backoff(kBackoff, std::random_device()());
  Every telling(kTellAgain);
  while (true) {
    check();
    try {
      step();
      if (!cause_.empty()) note("");
      return;
    } catch (const Error& error) {
      const bool over = patience_.limit && clock.now() - begin >= *patience_.limit;
      if (!error.retryable() || over) throw;
      if (cause_ != error.what()) note(error.what());
      if (telling.due(clock.now())) patience_.tell(error);
    }
    pause(backoff.next(), stop_);
  }
}

void TreeLease::note(const std::string& cause) {
  cause_ = cause;
  keeper_.between_renewals([&] { operation_.reason = cause; });
}

}  // namespace lockstep
