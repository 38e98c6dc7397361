// The foreign texts that a database can hold: one in another encoding than UTF-8 lacks characters, and none
// has NUL.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// For each text, which is UTF-8, whether the database can hold it: other texts are no values of it. Asks the
/// server only if the answer depends on its encoding. REQUIRES: `transaction` is one, not single statements.
/// Throws PostgresError.
std::vector<bool> can_be_held(PostgresTransaction& transaction, const std::vector<std::string>& texts);

}  // namespace lockstep
