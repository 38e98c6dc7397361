// Queries that take some of their rows by limit, offset or distinct on without an order, so that the same
// rows may give others later. One that has one row at most, since it looks it up by a unique key, takes none.
#pragma once

#include <set>
#include <vector>

#include "replicator/source/postgres/catalog/node_tree.h"

namespace lockstep {

struct UnorderedLimit {
  /// A column that is compared with a value by an operator.
  struct Comparison {
    int column;
    long operator_oid;
    std::set<long> others;  ///< numbers of the tables whose rows give that value; none: it comes from outside
  };
  struct Table {
    long number;
    unsigned oid;  ///< 0: it is a subquery or another kind of entry
    std::vector<Comparison> comparisons;
  };
  std::vector<Table> tables;  ///< of its `from`
};

/// Of a parsed query and its subqueries, but for those of exists().
std::vector<UnorderedLimit> unordered_limits_in(const PostgresNode& tree);

}  // namespace lockstep
