// Waiting for jobs that a command has added. Whoever leads does them; this process, if nobody leads.
#pragma once

#include <vector>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/ids.h"
#include "replicator/source/source.h"

namespace lockstep {

/// Returns once these jobs are done. If nobody leads, it takes the lead and replays everything that is
/// pending. Throws Error if it is interrupted or replication fails.
void finish_jobs(const Config& config, Source& source, const BulkWriter::TransportFactory& transports,
                 const std::vector<JobId>& jobs);

}  // namespace lockstep
