// Distinguishes two texts. It shows a change; it does not prevent deliberate changes.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// The text's FNV-1a hash of 64 bits (Fowler, Noll, Vo), in 16 hexadecimal digits.
std::string checksum(std::string_view text);

}  // namespace lockstep
