// The log's lines about refused documents: how many of which kind, never their values. The first of a kind is
// logged at once, the next ones once a minute, in one line.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/source/applied.h"
#include "replicator/source/outbox/dead_letter.h"

namespace lockstep {

class RefusalLog {
 public:
  /// Between two lines about the same kind.
  static constexpr std::chrono::seconds kInterval{60};

  explicit RefusalLog(const AppliedPipeline& pipeline);

  /// Counts new dead letters.
  void note(const std::vector<DeadLetter>& refused);

  /// The lines that are due.
  std::vector<std::string> due(SteadyTime now);

  /// The lines that would be due later, for the end.
  std::vector<std::string> rest();

 private:
  struct Kind {
    std::int64_t count = 0;  // since the last line
    SteadyTime told_at = SteadyTime::min();
  };

  std::map<IndexId, std::string> aliases_;
  std::map<std::string, Kind> kinds_;  // by "index posts: mapper_parsing_exception: failed to parse …"
};

}  // namespace lockstep
