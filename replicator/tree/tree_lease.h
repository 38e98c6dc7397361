// The lease of an operation while it writes its data: renewed in the background, checked before every step.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>

#include "replicator/backoff.h"
#include "replicator/error.h"
#include "replicator/locks/lease_keeper.h"

namespace lockstep {

/// The retries of a step that the server cannot do now.
struct TreePatience {
  std::optional<std::chrono::milliseconds> limit = {};  ///< then its Error is thrown; none: never
  /// Receives the cause when the step fails first, and again every 10 s.
  std::function<void(const Error&)> tell = [](const Error&) {};
};

class TreeLease {
 public:
  /// `since`: a time before the lease began. Until this object is destroyed, `locks` and `operation` are used
  /// through it only.
  TreeLease(LockManager& locks, Operation& operation, SteadyTime since, std::stop_token stop,
            TreePatience patience);

  FencingToken token() const { return token_; }

  /// To be called before each write. Throws LeaseLost if the lease is lost, and Error if a stop is requested,
  /// with the cause if a step fails at the time.
  void check();

  /// So many more documents are done; the next renewal writes that to the journal.
  void progress(std::int64_t documents);

  /// Writes to the journal at once that a server task works for the operation. Throws LeaseLost.
  void record_task(const std::string& task);

  /// Makes sure, by a write to the journal, that the lease is still ours. Throws LeaseLost.
  void confirm();

  /// The same, and takes a token greater than `fence`. REQUIRES: `fence` is not greater than kMostExceeded.
  void exceed(FencingToken fence);

  /// Runs `step` again, with pauses, as long as it throws a retryable Error and the patience lasts. Meanwhile
  /// the journal has the cause as the operation's reason. REQUIRES: `step` is idempotent.
  void persist(const std::function<void()>& step);

 private:
  /// The obstacle to the operation, for the journal and for check(); empty: none.
  void note(const std::string& cause);

  LockManager& locks_;
  Operation& operation_;
  FencingToken token_;  // a copy, since renewals write to operation_
  const std::stop_token stop_;
  const TreePatience patience_;
  std::string cause_;
  std::atomic<bool> lost_ = false;
  LeaseKeeper keeper_;  // last: its thread uses the others
};

}  // namespace lockstep
