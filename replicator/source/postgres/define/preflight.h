// The findings of `check` in PostgreSQL before anything runs: obstacles to Lockstep, and points that it
// cannot check. Changes nothing.
#pragma once

#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// The findings in the order in which people should fix them: the server, the configuration, rights, rows.
/// The current user may be the role of `apply` or, once the pipeline is applied, the role of `run`. Throws
/// Error if the connection is lost. REQUIRES: `session` has no transaction open.
std::vector<Finding> check_postgres(PostgresSession& session, const Config& config);

}  // namespace lockstep
