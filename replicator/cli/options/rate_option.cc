#include "replicator/cli/options/rate_option.h"

#include <charconv>

#include "replicator/error.h"

namespace lockstep {

std::optional<std::int64_t> max_rate_of(const std::string& option, const std::string& text) {
  std::int64_t rate = 0;
  const char* const end = text.data() + text.size();
  const auto [read, fault] = std::from_chars(text.data(), end, rate);
  if (fault != std::errc() || read != end || rate < 0) {
    throw UsageError(option + ": \"" + text +
                     "\" is not a number of documents a second; write 1000, or 0 for no limit");
  }
  return rate == 0 ? std::nullopt : std::optional(rate);
}

}  // namespace lockstep
