// Which rows of a query are computed together: in a window, by distinct on, by limit and in grouping sets,
// one row's result depends on others. So a changed row changes the results of its partition, too.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres/catalog/node_tree.h"

namespace lockstep {

struct RowPartition {
  std::string clause;                   ///< in words: "a window function"
  std::vector<const PostgresNode*> by;  ///< rows for which these are equal; none: all rows of the query
};

/// Those of one parsed query, without its subqueries'. They point into `query`.
std::vector<RowPartition> partitions_of(const PostgresNode& query);

/// Whether its limit or offset may leave rows out.
bool has_limit(const PostgresNode& query);

/// Whether an entry of its target list may decide the results of other rows. Another one is computed of each
/// row that is left.
bool decides(const PostgresNode& query, const PostgresNode& target);

/// Whether each of its rows comes from one row of a table, or from all that are equal in the columns that it
/// selects. Then it makes no difference whether these tables stand in the query around.
bool passes_rows(const PostgresNode& query);

/// Whether its conditions name a row of a query around, or an argument of the function that it is the body
/// of: so the rows belong to that row.
bool is_correlated(const PostgresNode& query);

}  // namespace lockstep
