// What a run begins, drawn by lot: writes, operators' commands, faults, deaths. Each source of such events
// has a lot of its own, and so has each of its events. So one can be left out, and all others stay what they
// are.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep::simulation {

/// Draws. (SplitMix64: G. Steele and others, "Fast splittable pseudorandom number generators", 2014)
class Lot {
 public:
  explicit Lot(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(next() % bound); }
  bool one_in(std::uint32_t times) { return below(times) == 0; }
  std::chrono::microseconds up_to(std::chrono::microseconds most) {
    return std::chrono::microseconds(next() % static_cast<std::uint64_t>(most.count()));
  }
  std::chrono::microseconds about(std::chrono::microseconds mean) { return up_to(2 * mean); }

  template <typename T>
  const T& one_of(const std::vector<T>& values) {
    return values[below(static_cast<std::uint32_t>(values.size()))];
  }

 private:
  std::uint64_t state_;
};

struct Event {
  std::string name;  ///< its source, and its number there, from 1
  Lot lot;
  bool happens = true;  ///< it is not left out
};

class Schedule {
 public:
  /// `only`: all events but these are left out.
  Schedule(std::uint64_t seed, std::optional<std::set<std::string>> only);

  /// The lot of what is no event.
  Lot lot(const std::string& of) const;

  /// The next event of a source.
  Event next(const std::string& source);

  /// Of `only`, those that have not come.
  std::vector<std::string> unknown() const;

 private:
  const std::uint64_t seed_;
  const std::optional<std::set<std::string>> only_;
  std::map<std::string, int> events_;  // of each source
  std::set<std::string> come_;         // of only_
};

}  // namespace lockstep::simulation
