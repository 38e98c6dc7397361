// Numbers as people read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lockstep {

/// Two leading units at most: "0 ms", "12 ms", "3.4 s", "2 min 5 s", "3 h 12 min", "4 d 6 h".
std::string readable(std::chrono::microseconds duration);

/// Time that is left of a setting, as it is set if hardly any is over: "7 d", "6 d 22 h", "1 h", "30 s".
std::string readable_left(std::chrono::milliseconds left);

/// "512 B", "3.4 MiB".
std::string readable_size(std::int64_t bytes);

/// "12/s", "3,400/s", below ten with one digit: "0.3/s".
std::string rate_text(double per_second);

}  // namespace lockstep
