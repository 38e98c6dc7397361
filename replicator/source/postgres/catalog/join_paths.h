// Along which columns a view comes to the rows of a table, as far as its parsed query tells. A film that has
// a language and an original language reads one table along two paths, and a track follows one of them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// By table: for each path the names of the columns that its primary key must equal. Only tables with a key
/// of one column are in it. Views and subqueries in the view are not looked into as what leads to a table.
/// REQUIRES: `view` is the oid of a view.
std::map<unsigned, std::vector<std::set<std::string>>> join_paths(PostgresTransaction& transaction,
                                                                  unsigned view);

/// A column of a table or view, by numbers of the catalog.
struct RelationColumn {
  unsigned relation = 0;
  int number = 0;
};

/// What a view's own query says, without those of the views that it reads.
struct ViewJoins {
  std::vector<std::pair<RelationColumn, RelationColumn>> equal;
  std::map<unsigned, int> entries;  ///< how often it names each relation, by oid
  /// The same, where of the subqueries that give its columns only the one that names a relation most often
  /// counts: nothing joins the one with the other.
  std::map<unsigned, int> together;
  bool recursive = false;
};

/// Everything that a condition anywhere in the view says is equal, also of one relation named twice. Throws
/// Error when the server's trees cannot be read. REQUIRES: `view` is the oid of a view.
ViewJoins read_joins(PostgresTransaction& transaction, unsigned view);

}  // namespace lockstep
