// Lets a thread wait for whichever comes first: wake(), the end of an interval, or the request to stop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace lockstep {

class WakeUp {
 public:
  /// Ends the current or the next wait at once. From any thread.
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      awake_ = true;
    }
    changed_.notify_one();
  }

  void wait(std::chrono::milliseconds at_most, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, at_most, [&] { return awake_; });
    awake_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool awake_ = false;  // guarded by mutex_
};

}  // namespace lockstep
