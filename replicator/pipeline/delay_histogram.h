// How long changes took, counted by length, for the histograms of the metrics.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace lockstep {

struct DelayHistogram {
  /// Upper bounds in seconds; longer delays have a place of their own at the end.
  static constexpr std::array kBounds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,
                                         1.0,   2.5,  5.0,   10.0, 30.0, 60.0, 300.0};

  std::array<std::int64_t, kBounds.size() + 1> counts{};  ///< of delays up to the bound, above the one before
  double sum_seconds = 0;

  void add(std::chrono::duration<double> delay, std::int64_t changes) {
    std::size_t place = 0;
    while (place < kBounds.size() && delay.count() > kBounds[place]) ++place;
    counts[place] += changes;
    sum_seconds += delay.count() * static_cast<double>(changes);
  }

  DelayHistogram& operator+=(const DelayHistogram& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum_seconds += other.sum_seconds;
    return *this;
  }
};

}  // namespace lockstep
