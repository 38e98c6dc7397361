// A number of objects a second, on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep {

/// A whole number from 1; none for 0, which lifts a limit. Throws UsageError, naming the option, for any
/// other text.
std::optional<std::int64_t> max_rate_of(const std::string& option, const std::string& text);

}  // namespace lockstep
