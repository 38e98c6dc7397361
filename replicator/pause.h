// A sleep that a stop request ends.
#pragma once

#include <chrono>
#include <stop_token>

namespace lockstep {

/// Sleeps; false when a stop was requested meanwhile, or before.
bool pause(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace lockstep
