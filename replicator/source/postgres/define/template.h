// Fills a `.sql` file with holes and repeated lines, so that the code that lands in a database can be read as
// a whole:
//
//   {name}    stands for a value;
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

/// A block that comes once or not at all.
std::vector<Filling> when(bool condition);

}  // namespace lockstep
