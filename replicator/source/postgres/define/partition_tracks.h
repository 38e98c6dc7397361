// Whether tracks follow a view's computations over rows of other documents: a rank, a running number, the
// first of a group. A track that leads from a changed row to its own document alone leaves the others as they
// were.
#pragma once

#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/view_links.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// A table whose rows change the documents of others, to which no track of it leads.
struct UntrackedPartition {
  bool is_certain = true;  ///< false: a track takes another column, and nothing can be concluded from it
  int line = 0;            ///< of a track of the table
  std::string message;
  std::string remedy;
};

/// A table that is ignored, or that has a track with `keys` or with an expression, counts as followed.
std::vector<UntrackedPartition> find_untracked_partitions(PostgresTransaction& transaction,
                                                          const IndexConfig& config, const std::string& view,
                                                          const ViewLinks& links);

}  // namespace lockstep
