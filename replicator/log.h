// Where log lines go: journald fields under systemd, JSON lines or plain text elsewhere. The rest of the
// program logs through spdlog's default logger: `spdlog::info("…")`. A line is logged where it is handled:
// log or throw, not both.
#pragma once

#include <string>

namespace lockstep {

enum class LogFormat {
  kAuto,  ///< journald if standard error is its socket, text on a terminal, JSON lines elsewhere
  kText,
  kJson,
  kJournal,
};

/// Installs the default logger. `level` is one of trace, debug, info, warn, error; anything else is a
/// UsageError.
void start_logging(LogFormat format, const std::string& level);

}  // namespace lockstep
