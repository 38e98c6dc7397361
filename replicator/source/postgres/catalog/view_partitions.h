// Rows of a view's tables that are computed together (row_partitions.h), by the places of the view. Where a
// changed row leads by the joins alone, the other documents of its partition stay as they were.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct ViewLinks;

/// A place of a view, and a column of its table.
using ColumnOfPlace = std::pair<std::size_t, int>;

struct ViewPartition {
  std::string clause;
  /// Each a value that the rows of one partition share: a column, or one of each branch of a union.
  std::vector<std::vector<ColumnOfPlace>> by;
  bool by_expression = false;      ///< what they share is no column, or not only
  std::set<std::size_t> deciding;  ///< places whose rows decide what the others become
  std::size_t begin = 0;           ///< the places of its query …
  std::size_t end = 0;             ///< … end before this one

  bool contains(std::size_t place) const { return begin <= place && place < end; }
};

/// The columns that have one value in all rows of a partition.
std::set<ColumnOfPlace> shared_columns(const ViewPartition& partition, const ViewLinks& links);

/// Those of the view that reach beyond what its links follow: rows of one partition belong to several
/// documents.
std::vector<ViewPartition> partitions_over_documents(const ViewLinks& links);

/// By which columns rows of the partition find one another, and of which table's: each with each. Empty: by
/// none.
std::vector<std::pair<std::size_t, std::set<int>>> columns_of_peers(const ViewPartition& partition,
                                                                    const ViewLinks& links);

}  // namespace lockstep
