// Which dead letters a command line means.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "replicator/cli/options/options.h"
#include "replicator/source/applied.h"
#include "replicator/source/outbox/dead_letter.h"

namespace lockstep {

class DeadLetterOptions {
 public:
  /// Adds ID…, --index, --error, --since and --until.
  void add_to(Options options);

  /// Adds --all, for commands that do more than read.
  void add_all_to(Options options);

  /// Whether the options choose some, not all of them.
  bool choose_some() const;

  /// Throws UsageError unless the options choose dead letters, or all of them. `command` is for the message.
  void require_choice(const std::string& command) const;

  /// `now` is DeadLetterBox::now(). Without --until the filter ends there: later refusals are not meant.
  /// Throws UsageError for an unknown alias or a text that is no point in time.
  DeadLetterFilter filter(const AppliedPipeline& pipeline, std::chrono::system_clock::time_point now) const;

 private:
  std::vector<std::string> ids_;
  std::vector<std::string> aliases_;
  std::string error_;
  std::optional<std::string> since_;
  std::optional<std::string> until_;
  bool all_ = false;
};

}  // namespace lockstep
