// A sleep that a stop request ends.
#pragma once

#include <chrono>
#include <stop_token>

namespace lockstep {

/// Returns false if a stop was requested before or during the sleep.
bool pause(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace lockstep
