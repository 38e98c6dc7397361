// Whether a text can be written into JSON.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// Whether these bytes are UTF-8.
bool is_utf8(std::string_view text);

/// The text, with U+FFFD for each byte that is not UTF-8.
std::string as_utf8(std::string_view text);

}  // namespace lockstep
