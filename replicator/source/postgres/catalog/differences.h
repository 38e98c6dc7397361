// What has changed in the database since the last `apply`, so that changes are lost, documents may be out of
// date, or triggers write more than they need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

struct Difference {
  std::string text;            ///< one sentence, with what to do
  bool loses_changes = false;  ///< a table is gone, triggers are missing or disabled, or do not fire
};

/// An SQL expression: whether a subscription fills the table whose oid `table`, an expression, gives.
std::string is_subscribed_sql(std::string_view table);

/// REQUIRES: the pipeline is applied. `schema_name` is lockstep's, not quoted. Waits for locks on views and
/// what they read.
std::vector<Difference> differences_from_applied(PostgresTransaction& transaction, int pipeline,
                                                 const std::string& schema_name);

}  // namespace lockstep
