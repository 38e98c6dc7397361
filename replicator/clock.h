// Time as a dependency, so that tests move it by hand.
#pragma once

#include <chrono>

namespace lockstep {

using SteadyTime = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;

  virtual SteadyTime now() const = 0;
};

/// The machine's monotonic clock.
class SystemClock final : public Clock {
 public:
  SteadyTime now() const override { return std::chrono::steady_clock::now(); }
};

/// Says when something that is done every so often is due.
class Every {
 public:
  /// Due at once, or for the first time when `interval` has passed since `begin`.
  explicit Every(std::chrono::milliseconds interval, SteadyTime begin = {})
      : interval_(interval), last_(begin) {}

  /// True at most once an interval.
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
