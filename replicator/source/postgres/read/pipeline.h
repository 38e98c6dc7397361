// The row of a pipeline that was applied, for those that follow it or wait for it.
#pragma once

#include <string>
#include <string_view>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// The row that `statement` finds for the name of a pipeline. Throws UsageError when it has not been applied
/// to this database, whose schema for lockstep is `schema_name` (not quoted), Error when another version of
/// lockstep has made the schema.
pqxx::row require_applied(PostgresSession& session, const std::string& schema_name,
                          const std::string& pipeline, std::string_view statement);

}  // namespace lockstep
