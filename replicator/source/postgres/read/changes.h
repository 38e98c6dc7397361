// Reads the outbox: what changed between two snapshots, in chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replicator/source/outbox/change.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/position.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

struct PostgresChunk {
  Changes changes;
  /// A position in the WAL behind every commit that the snapshot sees; none when an earlier transaction
  /// opened the batch.
  std::optional<std::string> seen_wal;
};

/// As SourceTransaction::read_changes(). Throws Error.
PostgresChunk read_outbox(PostgresTransaction& transaction, const PostgresPipeline& pipeline,
                          const Position& from, const ChunkLimits& limits);

struct TransactionPart {
  Changes changes;           ///< without `next`
  std::int64_t last_id = 0;  ///< of the rows that were read
};

/// Reads a part of a large transaction: at most so many rows and about so many values. Throws Error.
TransactionPart read_transaction(PostgresTransaction& transaction, const PostgresPipeline& pipeline,
                                 const PostgresLargeTransaction& large, std::int64_t max_rows,
                                 std::int64_t max_values);

}  // namespace lockstep
