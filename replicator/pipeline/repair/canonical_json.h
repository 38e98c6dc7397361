// One text for each JSON value, so that documents that were written differently can be compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

/// The canonical text has no white space, sorts the members of objects by name (those of one name stay in
/// their order), and writes each character and each number in one way: 1.0, 1 and 10e-1 are equal. It keeps
/// every digit, however long a number is. In place of values beyond some kilobytes it has their SHA-256, so
/// that it stays short. None: `text` is not JSON.
std::optional<std::string> canonical_json(std::string_view text);

/// Whether two texts are the same JSON value. Texts that are not JSON are the same only when they are equal.
bool same_json(std::string_view left, std::string_view right);

/// Whether two texts are the same JSON value when the order of the elements of arrays does not count.
bool same_json_in_any_order(std::string_view left, std::string_view right);

/// Whether each member of the object `expected` is the same JSON value in the object `actual`, which may have
/// further members. Texts that are not JSON objects are compared as same_json() does.
bool has_same_members(std::string_view expected, std::string_view actual);
bool has_same_members_in_any_order(std::string_view expected, std::string_view actual);

}  // namespace lockstep
