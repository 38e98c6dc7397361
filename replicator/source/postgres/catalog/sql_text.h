// The facts in an SQL function's text: whether it reads tables, and which functions it calls.
//
// A string body has no entries in pg_depend. If it reads nothing, an update that no document shows can be
// left out all the same. Doubtful cases count as reading.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace lockstep {

/// The names, in lower case, that the text calls like a function, keywords such as "in" among them. None: it
/// reads a table, writes one, or has a part that this does not understand.
std::optional<std::set<std::string>> calls_of_text_without_reads(std::string_view text);

}  // namespace lockstep
