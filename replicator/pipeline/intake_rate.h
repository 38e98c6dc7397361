// How fast Elasticsearch takes documents, by the requests that were answered last.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace lockstep {

class IntakeRate {
 public:
  /// A request of so many bytes has its outcomes, so long after it was sent. Those that are `in_flight` still
  /// were on their way beside it: together they share what Elasticsearch took meanwhile.
  void note(std::size_t bytes, std::chrono::microseconds took, std::size_t in_flight) {
    const double seconds = std::max(1e-3, std::chrono::duration<double>(took).count());
    const double rate = static_cast<double>(bytes * (in_flight + 1)) / seconds;
    bytes_per_second_ =
        bytes_per_second_ ? *bytes_per_second_ + kWeightOfNew * (rate - *bytes_per_second_) : rate;
  }

  /// How many bytes it takes in so long. None: nothing was noted.
  std::optional<std::size_t> bytes_in(std::chrono::milliseconds time) const {
    if (!bytes_per_second_) return std::nullopt;
    return static_cast<std::size_t>(*bytes_per_second_ * std::chrono::duration<double>(time).count());
  }

 private:
  static constexpr double kWeightOfNew = 0.3;  // in the moving average

  std::optional<double> bytes_per_second_;
};

}  // namespace lockstep
