// How the values of a capture become the _ids of an index's documents: one query from an array of values to
// ids, which `apply` makes a function of, so that the role of `run` needs no right on any table.
#pragma once

#include <string>

#include "replicator/source/postgres/catalog/catalog.h"

namespace lockstep {

struct ResolverRequest {
  const PostgresRelation& view;
  const PostgresColumn& id;  ///< the view's _id
  std::string value_type;    ///< as SQL writes it
  TypeFamily value_family;
  std::string column;  ///< the view's column that has the value; empty: its _id
  std::string keys;    ///< the user's query; empty: none
};

struct Resolver {
  std::string query;  ///< SQL from $1, an array of the value type, to texts; empty: the values are the ids
  bool through_view = false;      ///< it asks the view for a column
  std::string fault;              ///< not empty: there is no way
  bool is_missing_right = false;  ///< the fault is the current user's, who may not look into it
  std::string warning;            ///< not empty: it works, but
  std::string remedy;             ///< of the fault or warning
};

Resolver make_resolver(pqxx::work& transaction, const ResolverRequest& request);

}  // namespace lockstep
