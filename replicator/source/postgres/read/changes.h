// Reads the outbox: the changes between two snapshots, in chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replicator/source/outbox/change.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/position.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// The state that a snapshot sees.
struct PostgresSeen {
  std::string snapshot;
  /// A position in the WAL behind every commit that it sees; none: the server does not show it.
  std::optional<std::string> wal;
  bool is_durable = false;  ///< all of these commits are; false: not known yet
  std::optional<std::int64_t> epoch;
};

/// Asks for the transaction's snapshot. REQUIRES: nothing was read before. Throws Error.
PostgresSeen see(PostgresTransaction& transaction, const PostgresPipeline& pipeline);

/// As SourceTransaction::read_changes(), in a transaction that sees `snapshot`. Throws Error.
Changes read_outbox(PostgresTransaction& transaction, const PostgresPipeline& pipeline,
                    const std::string& snapshot, const Position& from, const ChunkLimits& limits);

struct TransactionPart {
  Changes changes;           ///< without `next`
  std::int64_t last_id = 0;  ///< of the rows that were read
};

/// Reads a part of a large transaction: at most so many rows and about so many values. Throws Error.
TransactionPart read_transaction(PostgresTransaction& transaction, const PostgresPipeline& pipeline,
                                 const PostgresLargeTransaction& large, std::int64_t max_rows,
                                 std::int64_t max_values);

}  // namespace lockstep
