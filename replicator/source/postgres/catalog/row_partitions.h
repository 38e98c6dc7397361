// Which rows of a query are computed together: in a window, by distinct on, by limit and in grouping sets,
// what one row becomes depends on others. So a changed row changes what those of its partition become, too.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres/catalog/node_tree.h"

namespace lockstep {

struct RowPartition {
  std::string clause;                       ///< in words: "a window function"
  std::vector<const PostgresNode*> by;      ///< rows for which these are equal; none: all rows of the query
  std::vector<const PostgresNode*> values;  ///< what is compared, counted or ordered there
};

/// Those of one parsed query, without its subqueries'. They point into `query`.
std::vector<RowPartition> partitions_of(const PostgresNode& query);

}  // namespace lockstep
