// Where log lines go: fields of the journal under systemd, JSON lines or plain text elsewhere. The program
// logs through spdlog's default logger: `spdlog::info("…")`. Whoever handles an error logs it, whoever throws
// it does not.
#pragma once

#include <string>

namespace lockstep {

enum class LogFormat {
  kAuto,  ///< the journal if standard error is its socket, text on a terminal, JSON lines elsewhere
  kText,
  kJson,
  kJournal,
};

/// Installs the default logger. `level` is one of trace, debug, info, warn, error. Throws UsageError for
/// anything else.
void start_logging(LogFormat format, const std::string& level);

}  // namespace lockstep
