// A counter's speed, over the last seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

#include "replicator/clock.h"

namespace lockstep {

class RateMeter {
 public:
  explicit RateMeter(std::chrono::milliseconds window = std::chrono::seconds(10)) : window_(window) {}

  /// Adds the counter's value at a time, which is not before the last one. A lesser value begins again.
  void add(SteadyTime at, std::int64_t count);

  /// Per second, between the oldest and the newest sample of the window; 0 until there are two.
  double per_second() const;

 private:
  struct Sample {
    SteadyTime at;
    std::int64_t count;
  };

  std::chrono::milliseconds window_;
  std::deque<Sample> samples_;
};

}  // namespace lockstep
