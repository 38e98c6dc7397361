#include "replicator/cli/options/duration_option.h"

#include "replicator/error.h"
#include "replicator/quantity.h"

namespace lockstep {

Option add_duration(Options options, const std::string& option, std::string& text,
                    const std::string& description) {
  return options.option(option, text, description).value_name("DURATION").show_default();
}

std::chrono::milliseconds duration_of(const std::string& option, const std::string& text) {
  if (const auto duration = parse_duration(text)) return *duration;
  throw UsageError(option + ": \"" + text + "\" is not a duration; write 500ms, 30s or 5m");
}

}  // namespace lockstep
