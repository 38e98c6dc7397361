// The pause before the next try: exponential, capped, jittered. The caller sleeps, not this.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace lockstep {

class Backoff {
 public:
  struct Limits {
    std::chrono::milliseconds first{50};
    std::chrono::milliseconds cap{15'000};
  };

  /// `seed` makes the jitter repeatable in tests.
  Backoff(Limits limits, std::uint64_t seed) : limits_(limits), random_(seed) {}

  /// The next delay: uniformly between half and the whole of first × 2^n, at most the cap ("equal jitter",
  /// Brooker, "Exponential Backoff And Jitter", 2015).
  std::chrono::milliseconds next();

  /// Makes the next delay short again, after a success.
  void reset() { tries_ = 0; }

  int tries() const { return tries_; }

 private:
  Limits limits_;
  std::mt19937_64 random_;
  int tries_ = 0;
};

}  // namespace lockstep
