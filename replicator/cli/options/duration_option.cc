#include "replicator/cli/options/duration_option.h"

#include <optional>

#include "replicator/error.h"
#include "replicator/quantity.h"

namespace lockstep {
namespace {

// A number without a unit is seconds, as flock(1) and timeout(1) have it.
std::optional<std::chrono::milliseconds> duration_or_seconds(const std::string& text) {
  const auto duration = parse_duration(text);
  return duration ? duration : parse_duration(text + "s");
}

}  // namespace

Option add_duration(Options options, const std::string& option, std::string& text,
                    const std::string& description) {
  return options.option(option, text, description).value_name("DURATION").show_default();
}

std::chrono::milliseconds duration_of(const std::string& option, const std::string& text) {
  if (const auto duration = duration_or_seconds(text)) return *duration;
  throw UsageError(option + ": \"" + text + "\" is not a duration; write 500ms, 30s, 30 (seconds) or 5m");
}

Option add_wait(Options options, std::string& text) {
  return add_duration(options, "--wait", text,
                      "How long to wait for the locks, and for a server that is away: 500ms, 30s or 30, 5m, "
                      "forever; 0s: not at all");
}

std::chrono::milliseconds wait_of(const std::string& text) {
  if (text == "forever") return std::chrono::years(100);
  if (const auto duration = duration_or_seconds(text)) return *duration;
  throw UsageError("--wait: \"" + text + "\" is not a duration; write 0s, 500ms, 30s, 5m or forever");
}

}  // namespace lockstep
