// The replication loop: what the leader of a pipeline does, readable as a list.
#pragma once

#include <stop_token>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/pipeline/progress.h"
#include "replicator/source/source.h"

namespace lockstep {

enum class RunUntil {
  kStopped,   ///< follow until `stop` is requested
  kCaughtUp,  ///< return when everything committed until then is acknowledged and no job is left
};

/// Leads the pipeline: finishes its jobs and follows its changes. REQUIRES: `source` leads (Lead::try_lead).
/// On a stop request it takes the outcomes of the bulks in flight, saves the checkpoint and returns, within
/// some seconds. It handles the failures of bulk requests itself. Throws Error when the source or
/// Elasticsearch's administration fails (retryable() says whether to call it again), Deposed when another
/// process leads now, UsageError when the configuration is not what was applied.
void replicate(const Config& config, Source& source, const BulkWriter::TransportFactory& make_transport,
               ProgressBoard& board, RunUntil until, const std::stop_token& stop);

}  // namespace lockstep
