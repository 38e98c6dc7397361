// The columns by which a view joins without naming them in an expression: SQLite's authorizer does not see
// these.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct SqliteJoinColumns {
  std::vector<std::string> columns;  ///< of every `using (…)`, at any depth
  bool is_natural = false;           ///< it has a `natural join`, by columns that its text does not name

  bool empty() const { return columns.empty() && !is_natural; }
};

/// REQUIRES: SQLite has accepted the text.
SqliteJoinColumns read_join_columns(std::string_view create_view);

}  // namespace lockstep
