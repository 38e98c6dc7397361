// Whether a text can be written into JSON.
#pragma once

#include <string>

namespace lockstep {

/// Whether these bytes are UTF-8.
bool is_utf8(const std::string& text);

}  // namespace lockstep
