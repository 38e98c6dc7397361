// Strings in JSON text. An id of any characters names one document and never breaks out of its line.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// Appends `text`, quoted and escaped, to `out`. REQUIRES: valid UTF-8, which is passed through; only quotes,
/// backslashes and control characters are escaped, so the result never holds a line feed. (U+2028 and U+2029
/// end lines in JavaScript, but neither in JSON nor in _bulk.)
void append_json_string(std::string& out, std::string_view text);

}  // namespace lockstep
