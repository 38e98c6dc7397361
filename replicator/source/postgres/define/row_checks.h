// Objections of a database's rows to a design: documents without an _id or with the same, searches that read
// whole tables, values that are no _id. Each look at rows takes a few seconds at most.
#pragma once

#include <vector>

#include "replicator/source/definition.h"
#include "replicator/source/postgres/define/design.h"

namespace lockstep {

/// Reads some rows of each view, as check_rows() does, and adds the obstacles to their becoming documents to
/// `findings`. Changes settings of the transaction. Throws Error if the connection is lost.
void check_documents(PostgresTransaction& transaction, const PipelineDesign& design,
                     std::vector<Finding>& findings);

/// Adds its findings to `findings`. Changes settings of the transaction. Throws Error if the connection is
/// lost.
void check_rows(PostgresTransaction& transaction, const PipelineDesign& design,
                std::vector<Finding>& findings);

}  // namespace lockstep
