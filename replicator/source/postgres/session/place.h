// Statements that say which database this is, for servers that name their cluster and for those that do not.
#pragma once

#include <string>
#include <string_view>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// An expression that names the database.
std::string place_expression(PostgresSession& session);

/// The statement of this name, with what names the database in place of `{place}`.
std::string statement_with_place(PostgresSession& session, std::string_view name);

}  // namespace lockstep
