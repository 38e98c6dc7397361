// Dead letters inside of the leader's transaction: which are new, and the checkpoint's changes of them.
#pragma once

#include <cstddef>
#include <vector>

#include "replicator/source/outbox/acknowledged.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// As SourceTransaction::new_dead_letters(). Throws Error.
std::vector<std::size_t> find_new_dead_letters(SqliteConnection& connection,
                                               const std::vector<DeadLetter>& refused);

/// Adds the documents that were refused, then clears those that are applied now. REQUIRES: a SqliteWrite is
/// open. Throws Error.
void save_dead_letters(SqliteConnection& connection, const Acknowledged& acknowledged);

}  // namespace lockstep
