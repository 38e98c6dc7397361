// How the values of a capture lead to the _ids of an index's documents: by one query from an array of values
// to ids. `apply` makes it a function, so that the role of `run` needs no right on any table.
#pragma once

#include <optional>
#include <string>

#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/view_links.h"

namespace lockstep {

struct ResolverRequest {
  const PostgresRelation& view;
  const PostgresColumn& id;  ///< the view's _id
  std::string value_type;    ///< as SQL writes it
  TypeFamily value_family;
  std::string column;                     ///< the view's column that has the value; empty: its _id
  std::string keys;                       ///< the user's query; may be empty
  std::string schema_name;                ///< lockstep's, not quoted
  const std::optional<ViewLinks>& links;  ///< none: the view's query cannot be read
};

struct Resolver {
  std::string query;  ///< SQL from $1, an array of the value type, to texts; empty: the values are the ids
  bool through_view = false;      ///< it asks the view itself
  std::string fault;              ///< why there is no resolver; empty: there is one
  bool is_missing_right = false;  ///< the fault is that the current user lacks a right
  std::string warning;            ///< changes that it may miss; may be empty
  std::string remedy;             ///< for the fault or the warning
};

/// A query as a part of another one: without the semicolon at its end.
std::string without_semicolon(const std::string& query);

/// A track's resolver: its own query, a column of the view, or nothing.
Resolver make_resolver(PostgresTransaction& transaction, const ResolverRequest& request);

}  // namespace lockstep
