// The dependencies of a track's `row` or `keys` on more than the changed row and the database's rows: a
// trigger takes a value when a row changes, and the view is read later.
#pragma once

#include <vector>

#include "replicator/source/definition.h"
#include "replicator/source/postgres/define/design.h"

namespace lockstep {

/// Adds a warning for each such track to `findings`, and an error if a view or a track compares by `=`
/// columns that a temporal key does not (TemporalKeys). An expression's calls are in its tree, and the server
/// shows the tree of views alone: so each becomes a temporary view for a moment, which is rolled back.
/// Changes nothing else.
/// REQUIRES: the transaction may write, and is never committed.
void check_expressions(PostgresTransaction& transaction, const PipelineDesign& design,
                       std::vector<Finding>& findings);

}  // namespace lockstep
