// Along which columns a view comes to the rows of a table, as far as its parsed query tells. A film that has
// a language and an original language reads one table along two paths, and a track follows one of them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// By table: for each path the names of the columns that its primary key must equal. Only tables with a key
/// of one column are in it. Views and subqueries in the view are not looked into as what leads to a table.
/// REQUIRES: `view` is the oid of a view.
std::map<unsigned, std::vector<std::set<std::string>>> join_paths(PostgresTransaction& transaction,
                                                                  unsigned view);

}  // namespace lockstep
