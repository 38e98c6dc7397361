// The equalities of a view's query, wherever they are, and how often it names a table. Which rows belong
// together for that is in view_links.h.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// A column of a table or view, by numbers of the catalog.
struct RelationColumn {
  unsigned relation = 0;
  int number = 0;
};

/// A view's own query, without those of the views that it reads.
struct ViewJoins {
  std::vector<std::pair<RelationColumn, RelationColumn>> equal;
  std::map<unsigned, int> entries;  ///< how often it names each relation, by oid
  /// The same, where of the subqueries that give its columns only the one that names a relation most often
  /// counts: nothing joins the one with the other.
  std::map<unsigned, int> together;
  bool recursive = false;
};

/// All equalities of conditions anywhere in the view, also of one relation named twice. Throws Error if the
/// server's trees cannot be read. REQUIRES: `view` is the oid of a view.
ViewJoins read_joins(PostgresTransaction& transaction, unsigned view);

}  // namespace lockstep
