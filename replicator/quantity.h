// Durations ("500ms", "10s", "5m", "1h", "7d") and sizes ("512KiB", "2MiB"), as people write them in the
// configuration and on the command line; and numbers of things.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

/// A whole number with the unit ms, s, m, h or d; none for anything else or for a number that is too large.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// A whole number with the unit B, KiB, MiB or GiB; none for anything else or for a number that is too large.
std::optional<std::int64_t> parse_size(std::string_view text);

/// In the greatest unit that divides it: "10s", "1500ms".
std::string duration_text(std::chrono::milliseconds duration);

/// In the greatest unit that divides it: "2MiB", "1000B".
std::string size_text(std::int64_t bytes);

/// "1,234,567".
std::string grouped(std::int64_t number);

/// "1 document", "3,000 documents"; `plural` if that is not the noun with an s.
std::string counted(std::int64_t number, std::string_view noun, std::string_view plural = {});

}  // namespace lockstep
