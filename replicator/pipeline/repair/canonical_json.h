// One text for each JSON value, so that documents that were written differently can be compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

/// Without white space, with the members of objects in the order of their names (those of one name in the
/// order in which they came), each character and each number written in one way: 1.0, 1 and 10e-1 are equal,
/// and no digit is lost, however long a number is. None: `text` is not JSON.
std::optional<std::string> canonical_json(std::string_view text);

/// Whether two texts are one JSON value; texts that are not JSON differ.
bool same_json(std::string_view left, std::string_view right);

}  // namespace lockstep
