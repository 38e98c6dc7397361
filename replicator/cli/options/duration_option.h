// Durations on the command line: "500ms", "30s", "5m"; a number without a unit is seconds.
#pragma once

#include <chrono>
#include <string>

#include "replicator/cli/options/options.h"

namespace lockstep {

/// Adds an option for a duration, which goes into `text`; its present value is the default.
Option add_duration(Options options, const std::string& option, std::string& text,
                    const std::string& description);

/// Throws UsageError, naming the option, if `text` is not a duration.
std::chrono::milliseconds duration_of(const std::string& option, const std::string& text);

/// Adds --wait for locks to a command.
Option add_wait(Options options, std::string& text);

/// The same for --wait, which may also be "forever".
std::chrono::milliseconds wait_of(const std::string& text);

}  // namespace lockstep
