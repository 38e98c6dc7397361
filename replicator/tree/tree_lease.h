// The lease of an operation while it writes its data: renewed in the background, checked before every step.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>

#include "replicator/backoff.h"
#include "replicator/locks/lease_keeper.h"

namespace lockstep {

class TreeLease {
 public:
  /// `since`: a time before the lease began. Until this object is destroyed, `locks` and `operation` are used
  /// through it only.
  TreeLease(LockManager& locks, Operation& operation, SteadyTime since, std::stop_token stop);

  FencingToken token() const { return token_; }

  /// To be called before each write. Throws LeaseLost when the lease is lost, and Error when a stop is
  /// requested.
  void check();

  /// So many more documents are done; the next renewal writes that to the journal.
  void progress(std::int64_t documents);

  /// Writes to the journal at once that a server task works for the operation. Throws LeaseLost.
  void record_task(const std::string& task);

  /// Makes sure, by a write to the journal, that the lease is still ours. Throws LeaseLost.
  void confirm();

  /// The same, and takes a token greater than `fence`. REQUIRES: `fence` is not greater than kMostExceeded.
  void exceed(FencingToken fence);

  /// Runs `step` again, with pauses, as long as it throws a retryable Error. REQUIRES: `step` is idempotent.
  void persist(const std::function<void()>& step);

 private:
  LockManager& locks_;
  Operation& operation_;
  FencingToken token_;  // a copy, since renewals write to operation_
  const std::stop_token stop_;
  std::atomic<bool> lost_ = false;
  LeaseKeeper keeper_;  // last: its thread uses the others
};

}  // namespace lockstep
