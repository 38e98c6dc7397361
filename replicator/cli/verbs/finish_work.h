// Waiting for work that a command has added. The leader does it; this process, if there is none.
#pragma once

#include "replicator/config/config.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/source/added_work.h"
#include "replicator/source/source.h"

namespace lockstep {

/// Returns once this is done. If there is no leader, it becomes leader and replays all pending changes.
/// Throws Error if it is interrupted or replication fails.
void finish_work(const Config& config, Source& source, const BulkWriter::TransportFactory& transports,
                 const AddedWork& work);

}  // namespace lockstep
