#include "replicator/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/systemd_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "replicator/error.h"

namespace lockstep {
namespace {

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

// One JSON object a line: {"time":"2026-01-31T12:00:00.123Z","level":"info","message":"…"}.
class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const nlohmann::ordered_json line = {
        {"time", utc(message.time)},
        {"level", level_name(message.level)},
        {"message", std::string_view(message.payload.data(), message.payload.size())}};
    const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    out.append(text.data(), text.data() + text.size());
  }

  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }

 private:
  static std::string utc(std::chrono::system_clock::time_point time) {
    const auto since = time.time_since_epoch();
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(since).count() % 1000;
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, milliseconds);
  }
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
  if (format != LogFormat::kAuto) return format;
  if (standard_error_is_the_journal()) return LogFormat::kJournal;
  return ::isatty(STDERR_FILENO) != 0 ? LogFormat::kText : LogFormat::kJson;
}

spdlog::sink_ptr make_sink(LogFormat format) {
  if (format == LogFormat::kJournal) return std::make_shared<spdlog::sinks::systemd_sink_mt>("lockstep");
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

void start_logging(LogFormat format, const std::string& level) {
  const spdlog::level::level_enum parsed = parse_level(level);
  // Not through spdlog's registry: its formatter would replace the sink's own.
  auto logger = std::make_shared<spdlog::logger>("lockstep", make_sink(chosen(format)));
  logger->set_level(parsed);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace lockstep
