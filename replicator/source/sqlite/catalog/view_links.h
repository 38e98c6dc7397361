// Which rows of a view's tables belong together, place by place, as far as the view's text shows: a view that
// names a table twice comes to its rows by two ways, and a change of a row must follow each.
//
// Only certain equalities count: those of two columns that rows must fulfil and whose names are unambiguous.
// view_joins also has possible ones.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// Rows of two places count together only if all these columns are equal. Names are not quoted.
struct SqliteLink {
  std::string table;
  std::vector<std::string> columns;
  std::string other;
  std::vector<std::string> other_columns;
};

struct SqliteViewLinks {
  std::vector<SqliteLink> links;
  std::set<std::string> seen;       ///< the tables that it names in a from clause
  std::set<std::string> unreached;  ///< those with a place without links to the row of the _id
};

/// Throws SqliteError. REQUIRES: `view` is the name of a view that SQLite can read, with a column _id.
SqliteViewLinks read_view_links(SqliteConnection& connection, const std::string& view);

}  // namespace lockstep
