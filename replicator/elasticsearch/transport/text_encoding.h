// Text inside other text: strings in JSON, ids and names in URLs. Whatever characters an id has, it names one
// document and never breaks out of its line.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// Appends `text`, quoted and escaped, to `out`. REQUIRES: valid UTF-8, which is passed through; only quotes,
/// backslashes and control characters are escaped, so the result never holds a line feed. (U+2028 and U+2029
/// end lines in JavaScript, but neither in JSON nor in _bulk.)
void append_json_string(std::string& out, std::string_view text);

/// `json` with U+FFFD in place of each \u escape that is half of a surrogate pair. Elasticsearch quotes a
/// refused value as it came, such escapes included, and no parser takes them.
std::string without_lone_surrogates(std::string_view json);

/// Encodes a path segment or a query value of a URL: everything but A–Z a–z 0–9 - _ ~ and inner dots becomes
/// %XX. A leading "." does too: servers take the segments "." and ".." for folders.
std::string percent_encoded(std::string_view text);

}  // namespace lockstep
