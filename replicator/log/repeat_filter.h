// Lets a line of the log through once in a while: lasting trouble is reported again, and fills no disk.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "replicator/clock.h"

namespace lockstep {

/// For one thread at a time.
class RepeatFilter {
 public:
  static constexpr std::size_t kMostLines = 1'000;  ///< it remembers; of more it forgets the oldest

  /// `interval`: how long a line is left out after it was written.
  explicit RepeatFilter(std::chrono::milliseconds interval) : interval_(interval) {}

  /// Whether the line may be written now. None: it was within the interval. Otherwise how often it was
  /// left out since then.
  std::optional<std::int64_t> admit(const std::string& line, SteadyTime now);

 private:
  struct Seen {
    SteadyTime written_at;
    std::int64_t left_out = 0;
  };

  void forget_oldest();

  const std::chrono::milliseconds interval_;
  std::map<std::string, Seen> seen_;
};

}  // namespace lockstep
