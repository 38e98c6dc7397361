// Renews the lease of an operation in a thread of its own while its owner works under the locks, and reports
// the loss of the lease.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "replicator/clock.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/mutex.h"

namespace lockstep {

/// When a lease that began after `since` ends, by this machine's clock: never later than by the server's.
SteadyTime end_of_lease(const LockManager& locks, SteadyTime since);

class LeaseKeeper {
 public:
  /// Renews every third of the lease, and sooner after a retryable failure. `since`: a time before the lease
  /// began, such as when the commit was sent. Calls `lost` once, from its own thread, when the operation is
  /// deposed or the lease has expired. Until stop() returns, `locks` and `operation` may be used only through
  /// between_renewals().
  LeaseKeeper(LockManager& locks, Operation& operation, SteadyTime since, std::function<void()> lost);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  /// When the lease ends by this machine's clock, counted from before the last successful renewal was sent.
  /// Watch it too: a renewal that hangs reports nothing. From any thread.
  SteadyTime good_until() const { return good_until_.load(); }

  /// Runs `action` while no renewal is under way, so that it may use `locks` and `operation`. Throws the
  /// exceptions of `action`.
  void between_renewals(const std::function<void()>& action);

  struct Loss {
    std::string reason;
    bool over = false;  ///< the operation is resolved, and its remaining locks can be released
  };
  /// Ends the renewals: waits for one that is under way. Returns why the lease is lost; none if it is not.
  std::optional<Loss> stop();

 private:
  void keep(const std::stop_token& stop, std::chrono::milliseconds lease);

  Mutex in_use_;
  LockManager& locks_ LOCKSTEP_GUARDED_BY(in_use_);
  Operation& operation_ LOCKSTEP_GUARDED_BY(in_use_);
  const std::function<void()> lost_;
  std::atomic<SteadyTime> good_until_;
  std::optional<Loss> loss_;  // of the thread, until it has ended
  std::jthread thread_;
};

}  // namespace lockstep
