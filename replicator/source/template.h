// Fills a `.sql` file with holes and repeated lines, so that the code that lands in a database can be read as
// a whole:
//
//   {name}    is replaced by a value;
//   {#name}   on a line of its own begins lines that come once for each filling of `name`;
//   {/name}   on a line of its own ends them.
//
// Blocks may hold blocks; a hole takes the innermost filling that has it. The comment at the top of the file
// is for its reader and is left out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct Filling {
  std::map<std::string, std::string> holes;
  std::map<std::string, std::vector<Filling>> blocks;
};

/// Fills in one pass: a `{` inside of a value stays what it is. Throws std::logic_error for a hole or a block
/// without filling, and for a block without end.
std::string fill_template(std::string_view text, const Filling& filling);

/// Replaces each `{name}` of a statement without blocks. Does so in one pass: replaces nothing inside of a
/// value. Throws std::logic_error for a name without a value.
std::string fill_placeholders(std::string_view statement,
                              const std::map<std::string_view, std::string_view>& values);

/// Replaces each `{schema}` alone: a statement may have other braces, of an array's text for instance.
std::string with_schema(std::string_view statement, std::string_view schema);

/// The text behind the comment at its top. For a text that becomes part of another.
std::string_view without_comment(std::string_view text);

/// A block that comes once or not at all.
std::vector<Filling> when(bool condition);

}  // namespace lockstep
