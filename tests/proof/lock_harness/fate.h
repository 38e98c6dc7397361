// What befalls a client at the named points of its work: now and then it dies there, or sleeps for longer
// than its lease. It reports that on standard output, line by line, to the process that started it.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <string_view>

namespace lockstep::harness {

class Fate {
 public:
  /// On average one point in so many is its death, and one a sleep of up to `longest`.
  struct Odds {
    unsigned points_a_death = 120;
    unsigned points_a_sleep = 60;
    std::chrono::milliseconds longest{2'500};
  };

  Fate(std::uint64_t seed, Odds odds) : random_(seed), odds_(odds) {}

  void pass(std::string_view point);

  bool one_in(unsigned n) { return random_() % n == 0; }
  std::uint64_t number() { return random_(); }

 private:
  std::mt19937_64 random_;
  const Odds odds_;
};

}  // namespace lockstep::harness
