// The lease of an operation while its data is written: renewed in the background, asked at every step.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>

#include "replicator/backoff.h"
#include "replicator/locks/lease_keeper.h"

namespace lockstep {

class TreeLease {
 public:
  /// `since`: a time before the lease began. Until this is destroyed `locks` and `operation` are used through
  /// it only.
  TreeLease(LockManager& locks, Operation& operation, SteadyTime since, std::stop_token stop);

  FencingToken token() const { return token_; }

  /// Before each write: throws LeaseLost when the lease is lost, and Error when a stop is requested.
  void check();

  /// So much is done; written to the journal with the next renewal.
  void progress(std::int64_t documents);

  /// Notes in the journal at once that a task of the server is at it. Throws LeaseLost.
  void record_task(const std::string& task);

  /// Asks the journal whether the lease is still ours. Throws LeaseLost.
  void confirm();

  /// Does `step` until it does not fail for a reason that may pass; `step` can be done again.
  void persist(const std::function<void()>& step);

 private:
  LockManager& locks_;
  Operation& operation_;
  const FencingToken token_;
  const std::stop_token stop_;
  std::atomic<bool> lost_ = false;
  LeaseKeeper keeper_;  // last: it calls back
};

}  // namespace lockstep
