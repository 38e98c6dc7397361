// A clock that is moved by hand.
#pragma once

#include <atomic>
#include <chrono>

#include "replicator/clock.h"

namespace lockstep {

class HandClock final : public Clock {
 public:
  SteadyTime now() const override { return SteadyTime(std::chrono::steady_clock::duration(ticks_.load())); }
  void move(std::chrono::steady_clock::duration by) { ticks_ += by.count(); }

 private:
  std::atomic<std::chrono::steady_clock::rep> ticks_ =
      std::chrono::steady_clock::duration(std::chrono::hours(1)).count();
};

}  // namespace lockstep
