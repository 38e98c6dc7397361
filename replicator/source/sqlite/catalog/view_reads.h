// The reads of a view: those that SQLite's authorizer sees while a statement over the view is prepared, and
// those that it does not: columns of `using` and of `natural join`. So `check` finds an untracked table, and
// the triggers leave out an update that no document can show.
#pragma once

#include <map>
#include <set>
#include <string>

#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

struct SqliteTableRead {
  std::set<std::string> columns;  ///< names
  bool by_row_number = false;     ///< it reads the number of a row that has no name of its own
  bool in_natural_join = false;   ///< any column may be read; `columns` has all of them
};

struct SqliteViewReads {
  std::map<std::string, SqliteTableRead> tables;  ///< by name; virtual tables too
  std::set<std::string> views;                    ///< the view itself, and those below it
  std::set<std::string> environment;              ///< functions whose value depends on more than rows
};

/// Follows a view down to its tables. Throws SqliteError if the view cannot be prepared.
SqliteViewReads read_view(SqliteConnection& connection, const std::string& view);

/// The columns of `table` that an expression over one row of it reads. Throws SqliteError.
std::set<std::string> columns_read(SqliteConnection& connection, const std::string& expression,
                                   const std::string& table);

}  // namespace lockstep
