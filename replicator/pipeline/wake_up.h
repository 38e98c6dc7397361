// Lets the pipeline's thread wait for whichever comes first: a finished bulk request, the end of the poll
// interval, or the request to stop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace lockstep {

class WakeUp {
 public:
  /// From any thread: the current or next wait ends at once.
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
