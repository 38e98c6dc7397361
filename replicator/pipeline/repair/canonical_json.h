// One text for each JSON value, so that documents that were written differently can be compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

/// The canonical text has no white space, sorts the members of objects by name (those of one name stay in
/// their order), and writes each character and each number in one way: 1.0, 1 and 10e-1 are equal. It keeps
/// every digit, however long a number is. None: `text` is not JSON.
std::optional<std::string> canonical_json(std::string_view text);

/// Whether two texts are the same JSON value. Texts that are not JSON are the same only when they are equal.
bool same_json(std::string_view left, std::string_view right);

}  // namespace lockstep
