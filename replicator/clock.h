// Time as a dependency, so that tests can move it by hand.
#pragma once

#include <chrono>

namespace lockstep {

using SteadyTime = std::chrono::steady_clock::time_point;

/// The time of the machine's monotonic clock, or of the scheduler that is set (scheduler.h).
SteadyTime steady_now();

class Clock {
 public:
  virtual ~Clock() = default;

  virtual SteadyTime now() const = 0;
};

class SystemClock final : public Clock {
 public:
  SteadyTime now() const override { return steady_now(); }
};

/// Determines when something that happens once in an interval is due.
class Every {
 public:
  /// Due for the first time when `interval` has passed since `begin`; without `begin` at once.
  explicit Every(std::chrono::milliseconds interval, SteadyTime begin = {})
      : interval_(interval), last_(begin) {}

  /// True at most once in an interval.
  bool due(SteadyTime now) {
    if (now - last_ < interval_) return false;
    last_ = now;
    return true;
  }

 private:
  std::chrono::milliseconds interval_;
  SteadyTime last_;
};

}  // namespace lockstep
