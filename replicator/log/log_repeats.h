// The log's treatment of repeated lines: the same warning or error comes at most once a minute.
#pragma once

#include <chrono>
#include <string>

#include "replicator/log/log.h"

namespace lockstep {

/// Logs a warning of trouble that lasts. False: it was left out, since the same line came shortly before. A
/// caller that logs trouble once offers it again while it lasts, so that every outage has its line.
bool warn_of_trouble(const std::string& message);

/// As start_logging() in log.h, but the same warning or error comes at most once in `repeat_interval`.
void start_logging(LogFormat format, const std::string& level, std::chrono::milliseconds repeat_interval);

}  // namespace lockstep
