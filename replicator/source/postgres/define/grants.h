// The rights that the role of `lockstep run` needs, exactly: it reads the views and uses lockstep's schema.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres/define/design.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// GRANT statements for `role` (not quoted), in the order in which they are to be run, by the role that runs
/// `apply`.
std::vector<std::string> grants_for_run(pqxx::transaction_base& transaction, const PostgresSession& session,
                                        const PipelineDesign& design, const std::string& role);

/// Those of them that the current user lacks. REQUIRES: lockstep's schema is there.
std::vector<std::string> missing_grants(pqxx::transaction_base& transaction, const PostgresSession& session,
                                        const PipelineDesign& design);

}  // namespace lockstep
