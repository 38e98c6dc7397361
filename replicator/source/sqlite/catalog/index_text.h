// Parts of an index that SQLite's pragmas omit: the expressions of its columns, and its condition. Both are
// in the text of its `create index`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct SqliteIndexText {
  std::vector<std::string> columns;  ///< in order, without collation at the end and without asc and desc
  std::string condition;             ///< of a partial index; empty: none
};

/// REQUIRES: SQLite has accepted the text.
SqliteIndexText read_index_text(std::string_view create_index);

/// A text as SQL writes it.
std::string quoted_text(std::string_view text);

}  // namespace lockstep
