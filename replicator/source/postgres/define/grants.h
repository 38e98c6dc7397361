// The rights that the role of `lockstep run` needs, and no others: to read the views and to use Lockstep's
// schema.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres/define/design.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// The GRANT statements for `role` (not quoted), in the order in which the role that runs `apply` must run
/// them.
std::vector<std::string> grants_for_run(PostgresTransaction& transaction, const PipelineDesign& design,
                                        const std::string& role);

/// The GRANT statements that the current user still needs. REQUIRES: Lockstep's schema exists.
std::vector<std::string> missing_grants(PostgresTransaction& transaction, const PipelineDesign& design);

}  // namespace lockstep
