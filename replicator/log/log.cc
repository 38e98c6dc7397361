#include "replicator/log/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/syslog.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "replicator/error.h"
#include "replicator/log/log_repeats.h"
#include "replicator/log/repeat_filter.h"
#include "replicator/mutex.h"
#include "replicator/wall_time.h"

namespace lockstep {
namespace {

// Until journald has read the last lines, also on a busy machine.
constexpr std::chrono::milliseconds kJournalReads{300};

constexpr std::array<std::pair<std::string_view, spdlog::level::level_enum>, 5> kLevels{{
    {"trace", spdlog::level::trace},
    {"debug", spdlog::level::debug},
    {"info", spdlog::level::info},
    {"warn", spdlog::level::warn},
    {"error", spdlog::level::err},
}};

spdlog::level::level_enum parse_level(const std::string& level) {
  for (const auto& [name, value] : kLevels) {
    if (name == level) return value;
  }
  throw UsageError("unknown log level \"" + level + "\"; it is one of trace, debug, info, warn, error");
}

std::string_view level_name(spdlog::level::level_enum level) {
  for (const auto& [name, value] : kLevels) {
    if (value == level) return name;
  }
  return "error";
}

Mutex process_fields_mutex;
std::map<std::string, std::string, std::less<>> process_fields LOCKSTEP_GUARDED_BY(process_fields_mutex);
thread_local std::vector<std::pair<const char*, std::string>> thread_fields;
thread_local bool last_line_was_left_out = false;
std::atomic<bool> is_configured = false;

// Those of the process, then those of the thread that logs. The logger is synchronous, so that is this one.
std::vector<std::pair<std::string, std::string>> fields_of_line() {
  std::vector<std::pair<std::string, std::string>> fields;
  {
    const MutexLock lock(process_fields_mutex);
    fields.assign(process_fields.begin(), process_fields.end());
  }
  fields.insert(fields.end(), thread_fields.begin(), thread_fields.end());
  return fields;
}

// One JSON object a line: {"time":"2026-01-31T12:00:00.123Z","level":"info","message":"…","pipeline":"shop"}.
class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    nlohmann::ordered_json line = {
        {"time", utc_text(message.time)},
        {"level", level_name(message.level)},
        {"message", std::string_view(message.payload.data(), message.payload.size())}};
    for (const auto& [name, value] : fields_of_line()) line[name] = value;
    const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    out.append(text.data(), text.data() + text.size());
  }

  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

// The journal, with the fields of a line: `journalctl LOCKSTEP_INDEX=posts`.
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::vector<std::string> entries = {
        "MESSAGE=" + std::string(message.payload.data(), message.payload.size()),
        "PRIORITY=" + std::to_string(priority_of(message.level)), "SYSLOG_IDENTIFIER=lockstep"};
    for (const auto& [name, value] : fields_of_line()) {
      std::string entry = "LOCKSTEP_";
      for (const unsigned char c : name) entry += static_cast<char>(std::toupper(c));
      entries.push_back(entry + "=" + value);
    }
    std::vector<iovec> parts;
    for (std::string& entry : entries) parts.push_back({entry.data(), entry.size()});
    // A failure has nowhere to go.
    sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
  }

  void flush_() override {}

 private:
  static int priority_of(spdlog::level::level_enum level) {
    switch (level) {
      case spdlog::level::trace:
      case spdlog::level::debug:
        return LOG_DEBUG;
      case spdlog::level::info:
        return LOG_INFO;
      case spdlog::level::warn:
        return LOG_WARNING;
      default:
        return LOG_ERR;
    }
  }
};

// In front of a sink: warnings and errors that come again too soon are left out, and counted.
class RepeatSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  RepeatSink(spdlog::sink_ptr sink, std::chrono::milliseconds interval)
      : sink_(std::move(sink)), filter_(interval) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (message.level < spdlog::level::warn) return sink_->log(message);
    std::string text(message.payload.data(), message.payload.size());
    std::string line = text;
    for (const auto& [name, value] : thread_fields) line += "\n" + std::string(name) + "=" + value;
    const auto left_out = filter_.admit(line, std::chrono::steady_clock::now());
    last_line_was_left_out = !left_out;
    if (!left_out) return;
    if (*left_out == 0) return sink_->log(message);
    text += fmt::format(" (and {} more times in the minutes before)", *left_out);
    spdlog::details::log_msg counted(message);
    counted.payload = text;
    sink_->log(counted);
  }

  void flush_() override { sink_->flush(); }

 private:
  const spdlog::sink_ptr sink_;
  RepeatFilter filter_;
};

// JOURNAL_STREAM is the socket that systemd gave us, as "device:inode". Standard error may be another one by
// now.
bool standard_error_is_the_journal() {
  const char* journal = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (journal == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return false;
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == journal;
}

LogFormat chosen(LogFormat format) {
  if (format != LogFormat::kAuto && format != LogFormat::kBeforeConfiguration) return format;
  if (standard_error_is_the_journal()) return LogFormat::kJournal;
  const bool is_read_by_people = format == LogFormat::kBeforeConfiguration || ::isatty(STDERR_FILENO) != 0;
  return is_read_by_people ? LogFormat::kText : LogFormat::kJson;
}

spdlog::sink_ptr make_sink(LogFormat format) {
  if (format == LogFormat::kJournal) return std::make_shared<JournalSink>();
  if (format == LogFormat::kJson) {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    sink->set_formatter(std::make_unique<JsonFormatter>());
    return sink;
  }
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  // There may be a progress bar on the terminal's last line.
  const char* clear_line = ::isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "";
  sink->set_pattern(std::string(clear_line) + "%H:%M:%S.%e %^%-7l%$ %v");
  return sink;
}

}  // namespace

void set_log_field(std::string_view name, const std::string& value) {
  const MutexLock lock(process_fields_mutex);
  process_fields.insert_or_assign(std::string(name), value);
}

LogField::LogField(const char* name, std::string value) {
  thread_fields.emplace_back(name, std::move(value));
}

LogField::~LogField() {
  thread_fields.pop_back();
}

bool warn_of_trouble(const std::string& message) {
  last_line_was_left_out = false;
  spdlog::warn("{}", message);
  return !last_line_was_left_out;
}

bool is_log_configured() {
  return is_configured || standard_error_is_the_journal();
}

void log_last_words(const std::string& message) {
  spdlog::error("{}", message);
  if (standard_error_is_the_journal()) std::this_thread::sleep_for(kJournalReads);
}

void start_logging(LogFormat format, const std::string& level) {
  start_logging(format, level, std::chrono::minutes(1));
}

void set_log_level(const std::string& level) {
  spdlog::default_logger_raw()->set_level(parse_level(level));
}

void start_logging(LogFormat format, const std::string& level, std::chrono::milliseconds repeat_interval) {
  const spdlog::level::level_enum parsed = parse_level(level);
  // Not through spdlog's registry: its formatter would replace the sink's own.
  auto logger = std::make_shared<spdlog::logger>(
      "lockstep", std::make_shared<RepeatSink>(make_sink(chosen(format)), repeat_interval));
  logger->set_level(parsed);
  logger->flush_on(spdlog::level::trace);
  is_configured = format != LogFormat::kBeforeConfiguration;
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace lockstep
