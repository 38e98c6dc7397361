// Waiting for what a command has added. Whoever leads does it; this process, if nobody leads.
#pragma once

#include "replicator/config/config.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/source/added_work.h"
#include "replicator/source/source.h"

namespace lockstep {

/// Returns once this is done. If nobody leads, it takes the lead and replays everything that is
/// pending. Throws Error if it is interrupted or replication fails.
void finish_work(const Config& config, Source& source, const BulkWriter::TransportFactory& transports,
                 const AddedWork& work);

}  // namespace lockstep
