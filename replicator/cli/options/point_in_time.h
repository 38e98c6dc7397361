// Points in time as people write them on the command line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

using TimePoint = std::chrono::system_clock::time_point;

/// Reads
///   "now", "today", "yesterday"        the latter two: midnight, UTC
///   "30s", "90min", "2h", "3 days"     so long before `now`; units s, m, h, d, w, or their names
///   "2026-01-31", "2026-01-31T12:00"   ISO 8601, with seconds, fraction ("12:00:30.5") and zone ("Z", "+02",
///                                      "+0200", "+02:00") if need be; a space may replace the T; without a
///                                      zone: UTC
/// from 1970 to 2261, in capitals or not. None for anything else.
std::optional<TimePoint> parse_point_in_time(std::string_view text, TimePoint now);

/// Throws UsageError, naming the option and the forms, if `text` is no such point in time.
TimePoint point_in_time(const std::string& option, const std::string& text, TimePoint now);

}  // namespace lockstep
