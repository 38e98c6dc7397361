// Where log lines go: fields of the journal under systemd, JSON lines or plain text elsewhere. The program
// logs through spdlog's default logger: `spdlog::info("…")`. The code that handles an error logs it, the code
// that throws it does not.
//
// Besides its message a line has fields to filter by: "pipeline" and "epoch" of the process, and the subject
// of the logging thread: "index", "error". In the journal they are LOCKSTEP_PIPELINE and so on. Plain text
// does not show them.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// Gives a field to every line from now on. A field that is set again has the new value.
void set_log_field(std::string_view name, const std::string& value);

/// Gives a field to the lines that this thread logs while it lives. REQUIRES: those of a thread end in the
/// opposite order of their beginning.
class LogField {
 public:
  /// `name` must outlive this: "index", "error".
  LogField(const char* name, std::string value);
  ~LogField();
  LogField(const LogField&) = delete;
  LogField& operator=(const LogField&) = delete;
};

enum class LogFormat {
  kAuto,  ///< the journal if standard error is its socket, text on a terminal, JSON lines elsewhere
  kText,
  kJson,
  kJournal,
  kBeforeConfiguration,  ///< the journal if standard error is its socket, text elsewhere
};

/// Installs the default logger. `level` is one of trace, debug, info, warn, error. Throws UsageError for
/// anything else.
void start_logging(LogFormat format, const std::string& level);

/// Whether the log is in the form that programs read: start_logging() has had another format than
/// kBeforeConfiguration, or standard error is the journal.
bool is_log_configured();

/// Logs an error that ends the process. journald finds out which unit a line is of when it reads it, and then
/// the process must still be there: else `journalctl -u` and `systemctl status` would not show why it ended.
void log_last_words(const std::string& message);

/// Changes the level of the default logger. Throws as start_logging() does.
void set_log_level(const std::string& level);

}  // namespace lockstep
