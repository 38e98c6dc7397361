// Bytes as small hexadecimal digits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

std::string hex_of(std::string_view bytes);

/// Takes large digits, too. None: these are not the digits of bytes.
std::optional<std::string> bytes_of_hex(std::string_view digits);

}  // namespace lockstep
