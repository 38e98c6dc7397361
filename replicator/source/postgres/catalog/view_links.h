// Which rows of a view's tables belong together, place by place: a view that names a table twice comes to its
// rows by two ways, and a change of a row must follow each. A place without a way to the documents loses
// changes, even if another place of the same table has one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/view_partitions.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/view/view_graph.h"

namespace lockstep {

/// Rows of two places of a view count together only if all these columns are equal. Places are numbered;
/// columns by the catalog.
struct ViewLink {
  std::size_t place = 0;
  std::size_t other = 0;
  std::set<std::pair<int, int>> columns;
};

struct ViewLinks {
  std::vector<unsigned> tables;              ///< by place: the oid of the table or whatever else has rows
  std::vector<std::map<int, int>> branches;  ///< by place, as in ViewGraph
  std::vector<ViewLink> links;               ///< two of the same places: either holds
  std::map<std::size_t, int> documents;      ///< the places whose row gives the _id, with its column
  std::map<int, ColumnOfPlace> columns;      ///< columns of the view that are a column of one place, as it is
  /// All that the _id is made of; empty: nobody can tell.
  std::set<ColumnOfPlace> id_columns;
  bool recursive = false;  ///< a query repeats itself; links lead to its first step alone
  /// All but those of queries that an outer row chooses the rows of: these lead to that row.
  std::vector<ViewPartition> partitions;
};

/// Each row of the view whose _id and column are not null comes from a row of `table`. There `id_column`
/// holds the _id, or the value of which the _id is the text, and `column` holds a value equal to the
/// column's. So the table can be asked for the documents that a change has taken out of the view.
struct CommonOrigin {
  unsigned table = 0;
  int id_column = 0;
  int column = 0;
};

/// None: the query does not tell. `column` is the number of one of the view's.
std::optional<CommonOrigin> common_origin(const ViewLinks& links, int column);

/// A relation by its oid; lives as long as the caller needs.
using DescribeRelation = std::function<const PostgresRelation&(unsigned)>;

/// The same by names, for every question about the way to the documents.
ViewGraph named_graph(PostgresTransaction& transaction, const ViewLinks& links,
                      const DescribeRelation& describe);

/// Follows the view's query through subqueries, `with`, views and functions with an SQL body. What is equal
/// counts where rows must fulfil it: in `where`, `on`, `having`, `in (select …)`, and in every branch of an
/// `or`. Throws NodeTreeError. REQUIRES: `view` is the oid of a view, `id`
/// the number of its column _id.
ViewLinks read_links(PostgresTransaction& transaction, unsigned view, int id);

}  // namespace lockstep
