// Changes in the database since the last `apply` by which changes are lost, documents may be out of date, or
// triggers write more than they need.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/postgres/catalog/view_parts.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// The arguments of note_definition() (migration 0018).
struct DefinitionNote {
  int index = 0;
  std::string known;  ///< the definition that is stored
  std::string now;
  std::string why;  ///< of the comparison that it asks for; empty: none is needed
};

struct Difference {
  std::string text;            ///< one sentence, with the remedy; empty: documents are as they should be
  bool loses_changes = false;  ///< a table is gone, triggers are missing or disabled, or do not fire
  std::optional<DefinitionNote> note = {};  ///< for the leader; with a `why` it settles the difference
};

enum class Generations { kAll, kSearched };

/// The indices of the pipeline whose definition differs from the stored one, by look-ups in the catalogue if
/// there are none. kSearched: only those that are followed, and not next to another. Waits for locks on the
/// views of those.
std::vector<Difference> altered_indices(PostgresTransaction& transaction, int pipeline,
                                        Generations generations);

/// Whether there are no altered_indices() of any generation. Waits for no lock.
bool are_as_stored(PostgresTransaction& transaction, int pipeline);

/// An SQL expression: whether a subscription fills the table whose oid `table`, an expression, gives.
std::string is_subscribed_sql(std::string_view table);

/// altered_indices(), and everything else. REQUIRES: the pipeline is applied. `schema_name` is Lockstep's,
/// not quoted.
std::vector<Difference> differences_from_applied(PostgresTransaction& transaction, int pipeline,
                                                 const std::string& schema_name);

}  // namespace lockstep
