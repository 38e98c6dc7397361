#include "replicator/tree/tree_lease.h"

#include <random>
#include <utility>

#include "replicator/error.h"
#include "replicator/pause.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;

constexpr Backoff::Limits kBackoff{milliseconds(100), milliseconds(2'000)};

}  // namespace

TreeLease::TreeLease(LockManager& locks, Operation& operation, SteadyTime since, std::stop_token stop)
    : locks_(locks),
      operation_(operation),
      token_(operation.token),
      stop_(std::move(stop)),
      keeper_(locks, operation, since, [this] { lost_ = true; }) {}

void TreeLease::check() {
  if (lost_) {
    throw LeaseLost(
        keeper_.stop()
            .value_or(LeaseKeeper::Loss{"the lease of the operation " + operation_.id + " is lost"})
            .reason,
        false);
  }
  if (stop_.stop_requested())
    throw Error(
        {"finishing the operation " + operation_.id, "interrupted", "`lockstep tree recover` does the rest"});
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
  Backoff backoff(kBackoff, std::random_device()());
  while (true) {
    check();
    try {
      step();
      return;
    } catch (const Error& error) {
      if (!error.retryable()) throw;
    }
    pause(backoff.next(), stop_);
  }
}

}  // namespace lockstep
