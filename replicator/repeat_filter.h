// Lets a line of the log through once a minute: trouble that lasts says so, and fills no disk.
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
  static constexpr std::chrono::minutes kInterval{1};
  static constexpr std::size_t kMostLines = 1'000;  ///< it remembers; of more it forgets the oldest

  /// Whether the line may be written now. None: it was within the last minute. Otherwise how often it was
  /// left out since then.
  std::optional<std::int64_t> admit(const std::string& line, SteadyTime now);

 private:
  struct Seen {
    SteadyTime written_at;
    std::int64_t left_out = 0;
  };

  void forget_oldest();

  std::map<std::string, Seen> seen_;
};

}  // namespace lockstep
