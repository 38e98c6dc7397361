// Settings that make a PostgreSQL source easier to attack than it need be, but do not keep Lockstep from
// working.
#pragma once

#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// Warnings: a connection to another machine that does not verify who answers, and a session of a superuser.
/// Throws PostgresError. REQUIRES: `session` has no transaction open.
std::vector<Finding> exposure_of_postgres(PostgresSession& session, const SourceConfig& source);

}  // namespace lockstep
