// What a process does once when it takes the lead, before it writes anything: it makes sure that
// configuration, source and Elasticsearch belong together, and raises the epoch above all that either side
// has seen.
#pragma once

#include "replicator/config/config.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/client.h"
#include "replicator/source/source.h"

namespace lockstep {

/// The pipeline as `apply` has left it. Throws UsageError when the configuration names other indices.
AppliedPipeline load_applied(const Config& config, Source& source);

/// Raises the epoch above the source's and above what any of the pipeline's indices carries, and marks the
/// indices with it. When an index carries a later epoch than the source, the source has been restored from an
/// older state: jobs that compare the indices with their views are added. Throws Error when an alias is
/// missing or belongs to somebody else.
Epoch take_epoch(const AppliedPipeline& pipeline, Source& source, ElasticsearchClient& elasticsearch);

}  // namespace lockstep
