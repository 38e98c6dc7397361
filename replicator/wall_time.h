// Time of day, for what outlives the process: it may be set forward and back, so durations are measured with
// clock.h.
#pragma once

#include <chrono>

namespace lockstep {

using WallTime = std::chrono::system_clock::time_point;

}  // namespace lockstep
