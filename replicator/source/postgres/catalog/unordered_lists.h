// Aggregates that list rows in whatever order the server reads them, as json_agg() without order by does: the
// same rows give another array after an update of a column that no document shows.
#pragma once

#include <set>

#include "replicator/source/postgres/catalog/node_tree.h"

namespace lockstep {

struct UnorderedLists {
  std::set<unsigned> aggregates;  ///< oids of those called without an order, whether or not they list rows
  bool array_of_query = false;    ///< array(select …) without order by
};

/// Of a parsed query and its subqueries. Rows of one subquery that orders them have an order.
UnorderedLists unordered_lists_in(const PostgresNode& tree);

}  // namespace lockstep
