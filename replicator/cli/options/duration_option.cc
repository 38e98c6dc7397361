#include "replicator/cli/options/duration_option.h"

#include <CLI/CLI.hpp>

#include "replicator/error.h"
#include "replicator/quantity.h"

namespace lockstep {

CLI::Option* add_duration(CLI::App& app, const std::string& option, std::string& text,
                          const std::string& description) {
  return app.add_option(option, text, description)->type_name("DURATION")->capture_default_str();
}

std::chrono::milliseconds duration_of(const std::string& option, const std::string& text) {
  if (const auto duration = parse_duration(text)) return *duration;
  throw UsageError(option + ": \"" + text + "\" is not a duration; write 500ms, 30s or 5m");
}

}  // namespace lockstep
