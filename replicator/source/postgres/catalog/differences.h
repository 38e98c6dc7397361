// What has changed in the database since the last `apply`, so that changes are lost, documents may be out of
// date, or triggers write more than they need.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

struct Difference {
  std::string text;            ///< one sentence, with what to do
  bool loses_changes = false;  ///< a table is gone, or triggers are missing or disabled
};

/// REQUIRES: the pipeline is applied. `schema_name` is lockstep's, not quoted. Waits for locks on views and
/// what they read.
std::vector<Difference> differences_from_applied(PostgresTransaction& transaction, int pipeline,
                                                 const std::string& schema_name);

}  // namespace lockstep
