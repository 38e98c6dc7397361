// Time of day, for values that outlive the process: it may be set forward and back, so durations are measured
// with clock.h.
#pragma once

#include <chrono>
#include <string>

namespace lockstep {

using WallTime = std::chrono::system_clock::time_point;

/// "2026-01-31T12:00:00.123Z", to the millisecond before.
std::string utc_text(WallTime time);

/// "2026-01-31T12:00:00.123456Z"
std::string utc_text_to_the_microsecond(WallTime time);

}  // namespace lockstep
