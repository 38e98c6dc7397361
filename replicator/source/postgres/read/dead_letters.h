// Dead letters inside of the leader's transaction: which are new, and the checkpoint's changes of them.
#pragma once

#include <cstddef>
#include <vector>

#include "replicator/source/outbox/acknowledged.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// As SourceTransaction::new_dead_letters(): the first position of each document that is no dead letter yet.
/// Throws Error.
std::vector<std::size_t> find_new_dead_letters(PostgresTransaction& transaction,
                                               const std::vector<DeadLetter>& refused);

/// Adds the documents that were refused, then clears those that are applied now. Throws Error.
void save_dead_letters(PostgresTransaction& transaction, const Acknowledged& acknowledged);

}  // namespace lockstep
