// Whether a view computes a document from rows of others: a rank, a running number, the ten best. SQLite does
// not report which rows those are, so the view's text has to, as far as it goes. Doubtful cases count.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// Of one view, without those below it.
struct SqliteComparedRows {
  std::set<std::string> clauses;  ///< in words, such as "a window function"
  /// By clause, the columns that the rows have in common; none: all rows are compared, or it is not known.
  std::vector<std::set<std::string>> by;
  std::set<std::string> tables;  ///< those that the view reads, also by those below it
};

/// For each of the views that has such a clause. One in brackets that name a row of the query around is of
/// the rows of that row. Throws SqliteError.
std::vector<SqliteComparedRows> compared_rows(SqliteConnection& connection,
                                              const std::set<std::string>& views);

/// All of their clauses.
std::set<std::string> clauses_that_compare_rows(SqliteConnection& connection,
                                                const std::set<std::string>& views);

}  // namespace lockstep
