// Statements that identify this database, for servers that name their cluster and for those that do not.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// A database, as one session may know it.
struct PostgresPlace {
  std::string name;     ///< of place_expression()
  std::string unnamed;  ///< of unnamed_place_expression()
};

/// Whether both are the same database, as far as both sessions may know.
bool is_same(const PostgresPlace& some, const PostgresPlace& other);

/// An expression that names the database, as far as this session may know it.
std::string place_expression(PostgresSession& session);

/// The same for any session. It distinguishes copies of one database in two clusters only if they have other
/// numbers.
std::string unnamed_place_expression(PostgresSession& session);

/// The statement of this name, with the database's names in place of `{place}` and `{unnamed_place}`, and
/// with these values in its other places.
std::string statement_with_place(PostgresSession& session, std::string_view name,
                                 std::map<std::string_view, std::string_view> values = {});

}  // namespace lockstep
