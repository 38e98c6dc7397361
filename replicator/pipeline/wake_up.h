// Lets a thread wait for whichever comes first: wake(), the end of an interval, or the request to stop.
#pragma once

#include <chrono>
#include <stop_token>

#include "replicator/condition.h"
#include "replicator/mutex.h"

namespace lockstep {

class WakeUp {
 public:
  /// Ends the current or the next wait at once. From any thread.
  void wake() {
    {
      const MutexLock lock(mutex_);
      awake_ = true;
    }
    changed_.notify_one();
  }

  void wait(std::chrono::milliseconds at_most, const std::stop_token& stop) {
    MutexLock lock(mutex_);
    changed_.wait_for(lock, stop, at_most, [this]() LOCKSTEP_REQUIRES(mutex_) { return awake_; });
    awake_ = false;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  bool awake_ LOCKSTEP_GUARDED_BY(mutex_) = false;
};

}  // namespace lockstep
