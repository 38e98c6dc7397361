// What the documents of a view are made of besides rows: the definitions of the views, tables, functions and
// types below it. A change of one of them fires no trigger. `apply` keeps what it found, and the leader and
// the next `apply` compare it with what is there now.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

struct ViewParts {
  /// "function s.f(integer)" → checksum of its definition, and for a table another one (view_parts.sql).
  std::map<std::string, std::string> parts;
  std::set<std::string> whole_rows;  ///< names, quoted, of the tables that are read as whole rows

  /// As lockstep's table "index" keeps them: JSON.
  std::string text() const;

  /// The names of the parts that are others in `stored`, a text(), in order; empty: none. A text that an
  /// older lockstep has stored, a mere checksum, gives one name that says so.
  std::vector<std::string> changed_since(std::string_view stored) const;
};

/// `view` is an oid, `whole_rows` as in ViewParts.
ViewParts read_view_parts(PostgresTransaction& transaction, unsigned view, std::set<std::string> whole_rows);

/// The subselect of view_parts.sql; both are SQL expressions.
std::string view_parts_sql(PostgresSession& session, std::string_view view, std::string_view whole_rows);

}  // namespace lockstep
