// Rows of a view's tables that are computed together (row_partitions.h), by the places of the view. If a
// changed row leads by the joins alone, the other documents of its partition stay as they were.
//
// One question decides: by which tables' rows is the level computed that has the clause? Each of its places
// leads to the whole partition, by links within the level to a row whose columns the partition has in common,
// or to every document. Nothing else is known to be enough.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/source/postgres/catalog/place_conditions.h"

namespace lockstep {

struct ViewLinks;

/// A place of a view, and a column of its table.
using ColumnOfPlace = std::pair<std::size_t, int>;

struct ViewPartition {
  std::string clause;
  std::size_t level = 0;            ///< the number of its query
  std::size_t begin = 0;            ///< the places of its query …
  std::size_t end = 0;              ///< … end before this one
  std::set<std::size_t> deciding;   ///< those whose rows decide the results of other rows
  std::set<ColumnOfPlace> shared;   ///< columns that have one value in all rows of a partition, or none
  std::set<ColumnOfPlace> present;  ///< columns that are never null in these rows; those of other levels, too
  std::set<ColumnOfPlace> expressed;  ///< columns that expressions in common are made of
  /// Rows of tables whose columns a partition has in common, null among it.
  std::map<std::size_t, std::set<int>> anchors;
  /// The places from which links within the query lead to each of these.
  std::map<std::size_t, std::set<std::size_t>> connected;
  std::map<std::size_t, std::set<int>> linked;  ///< by place, the columns of such links
  /// Those of `deciding` that nothing less than every document follows.
  std::set<std::size_t> everywhere = {};

  bool contains(std::size_t place) const { return begin <= place && place < end; }
};

/// Adds the consequences of the conditions in its query. `optional` are places that may have no row when the
/// query has one. REQUIRES: `conditions` has none from around that query; anchors are known.
void connect(ViewPartition& partition, const PlaceCondition& conditions,
             const std::set<std::size_t>& optional);

/// Those of the view that reach beyond its links: rows of one partition belong to several documents.
std::vector<ViewPartition> partitions_over_documents(const ViewLinks& links);

/// The place by whose columns rows of the partition find one another: that of the documents if it is one.
/// None: by none.
std::optional<std::size_t> anchor_of(const ViewPartition& partition, const ViewLinks& links);

}  // namespace lockstep
