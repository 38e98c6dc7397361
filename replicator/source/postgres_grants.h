// The rights that the role of `lockstep run` needs, exactly: it reads the views and uses lockstep's schema.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres_design.h"
#include "replicator/source/postgres_session.h"

namespace lockstep {

/// GRANT statements for `role` (not quoted), in the order in which they are to be run, by the role that runs
/// `apply`.
std::vector<std::string> grants_for_run(pqxx::transaction_base& transaction, const PostgresSession& session,
                                        const PipelineDesign& design, const std::string& role);

/// One right that grants_for_run would give, for asking whether a role has it.
struct TableRight {
  std::string table;   ///< in lockstep's schema, not quoted
  std::string rights;  ///< "select, update"
};

/// The rights on lockstep's own tables.
const std::vector<TableRight>& own_table_rights();

}  // namespace lockstep
