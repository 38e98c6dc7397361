// Waiting for jobs that a verb has added: whoever leads does them, and this process when nobody does.
#pragma once

#include <cstdint>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/source/source.h"

namespace lockstep {

/// Returns when these jobs of the pipeline are done. When nobody leads it takes the lead and replays
/// everything that is pending. Throws Error when it is interrupted or replication fails.
void finish_jobs(const Config& config, Source& source, const BulkWriter::TransportFactory& transports,
                 const std::vector<std::int64_t>& jobs);

}  // namespace lockstep
