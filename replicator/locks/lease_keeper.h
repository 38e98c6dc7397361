// Renews the lease of an operation in a thread of its own while something else is being done under its locks,
// and says when it is lost.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "replicator/clock.h"
#include "replicator/locks/lock_manager.h"

namespace lockstep {

class LeaseKeeper {
 public:
  /// Renews every third of the lease, and sooner again after a failure that may pass. `since` is a time
  /// before the lease began: that of the commit's request. `lost` is called once, from this object's thread,
  /// when the operation is deposed or the lease has run out. Until stop() returns, nobody else may use
  /// `locks` or `operation`, except between_renewals().
  LeaseKeeper(LockManager& locks, Operation& operation, SteadyTime since, std::function<void()> lost);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  /// Until when the lease runs by this machine's own reckoning, from before the last renewal that worked was
  /// sent: to be watched too, since a renewal that hangs says nothing. From any thread.
  SteadyTime good_until() const { return good_until_.load(); }

  /// For the one who works under the lease: does something with `locks` or `operation` while nothing is being
  /// renewed. Throws what `action` throws.
  void between_renewals(const std::function<void()>& action);

  /// Ends the renewing; afterwards why the lease is lost, or none.
  std::optional<std::string> stop();

 private:
  void keep(const std::stop_token& stop);

  LockManager& locks_;
  Operation& operation_;
  const std::function<void()> lost_;
  std::atomic<SteadyTime> good_until_;
  std::optional<std::string> reason_;
  std::mutex in_use_;  // guards locks_ and operation_
  std::jthread thread_;
};

}  // namespace lockstep
