// Text inside other text: ids and names in URLs, Elasticsearch's quotations in JSON.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// `json` with U+FFFD in place of each \u escape that is half of a surrogate pair. Elasticsearch quotes a
/// refused value as it came, such escapes included, and no parser takes them.
std::string without_lone_surrogates(std::string_view json);

/// Encodes a path segment or a query value of a URL: everything but A–Z a–z 0–9 - _ ~ and inner dots becomes
/// %XX. A leading "." does too: servers take the segments "." and ".." for folders.
std::string percent_encoded(std::string_view text);

}  // namespace lockstep
