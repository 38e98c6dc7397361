// Reads the outbox: what changed between two snapshots, in chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replicator/source/outbox/change.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

struct PostgresChunk {
  Changes changes;
  /// A position in the WAL behind every commit that the snapshot sees; none when an earlier transaction
  /// opened the batch.
  std::optional<std::string> seen_wal;
};

/// Reads what the transaction's snapshot sees behind `from`, at most about `max_values` values. Throws Error.
PostgresChunk read_outbox(PostgresTransaction& transaction, const PostgresPipeline& pipeline,
                          const Position& from, std::int64_t max_values);

}  // namespace lockstep
