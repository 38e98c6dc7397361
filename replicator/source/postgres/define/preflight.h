// What `check` finds on the source's side before anything runs: what is wrong and keeps lockstep from
// working, and what it cannot vouch for. Changes nothing, and looks at rows for a few seconds at most.
#pragma once

#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// Faults first in the order in which they are to be mended: the server, the configuration, rights, rows. The
/// current user may be the role of `apply`, or, once the pipeline is applied, that of `run`. Throws Error
/// when the connection is lost.
std::vector<Finding> check_postgres(PostgresSession& session, const Config& config);

}  // namespace lockstep
