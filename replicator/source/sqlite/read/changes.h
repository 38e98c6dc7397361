// Reads the outbox: the changes behind a position, in chunks.
#pragma once

#include <cstdint>

#include "replicator/source/outbox/change.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/read/position.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// The newest row of the outbox that is visible; 0: there has been none. Throws SqliteError.
std::int64_t newest_outbox_id(SqliteConnection& connection);

/// As SourceTransaction::read_changes(), apart from the age. REQUIRES: a snapshot is open that sees `from`.
Changes read_outbox(SqliteConnection& connection, const SqlitePipeline& pipeline, std::int64_t from,
                    const ChunkLimits& limits);

/// Reads the rows behind `rows.behind`, of about so many values; `next` is behind them. REQUIRES: a snapshot
/// is open.
Changes read_rows(SqliteConnection& connection, const SqlitePipeline& pipeline, const SqliteRows& rows,
                  std::int64_t max_values);

}  // namespace lockstep
