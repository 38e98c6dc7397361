// Aggregates and window functions that depend on the order in which the server happens to read rows, as
// json_agg() and row_number() without order by do: the same rows give another value after an update of a
// column that no document shows.
#pragma once

#include <set>

#include "replicator/source/postgres/catalog/node_tree.h"

namespace lockstep {

struct UnorderedLists {
  std::set<unsigned> functions;  ///< oids of those called without an order, whether or not they need one
  bool array_of_query = false;   ///< array(select …) without order by
};

/// Of a parsed query and its subqueries. Rows of one subquery that orders them have an order.
UnorderedLists unordered_lists_in(const PostgresNode& tree);

}  // namespace lockstep
