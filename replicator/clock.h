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

}  // namespace lockstep
