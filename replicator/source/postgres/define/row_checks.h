// What the rows of a database say against a design: documents without an _id or with the same, searches that
// read whole tables, values that are no _id. Each look at rows takes a few seconds at most.
#pragma once

#include <vector>

#include "replicator/source/definition.h"
#include "replicator/source/postgres/define/design.h"

namespace lockstep {

/// Adds what it finds to `findings`. Changes settings of the transaction. Throws Error when the connection is
/// lost.
void check_rows(PostgresTransaction& transaction, const PipelineDesign& design,
                std::vector<Finding>& findings);

}  // namespace lockstep
