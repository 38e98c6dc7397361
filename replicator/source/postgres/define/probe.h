// The reads of a query of the configuration, by its tree. The server shows the tree of views alone, so the
// query becomes a temporary view for a moment, which is rolled back.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "replicator/source/postgres/catalog/view_reads.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// `keys` with an array in place of its parameter, as a view has none.
std::string with_values(std::string keys, const std::string& values);

/// Calls `ask` with the oid of such a view, unless the server takes none here: for a standby, or without the
/// right to temporary objects. REQUIRES: the transaction may write.
void ask_of_query(PostgresTransaction& transaction, const std::string& query,
                  const std::function<void(unsigned view)>& ask);

/// None: the server takes no such view here.
std::optional<ViewReads> reads_of_query(PostgresTransaction& transaction, const std::string& query);

}  // namespace lockstep
