// What a process does once when it takes the lead, before it writes anything: it makes sure that
// configuration, source and Elasticsearch belong together, and raises the epoch above all that either side
// has seen.
#pragma once

#include "replicator/config/config.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/source/source.h"

namespace lockstep {

/// Reloads what `apply` has left in the source, and returns it. Throws UsageError when the configuration
/// names other indices.
const AppliedPipeline& load_applied(const Config& config, Source& source);

/// What an index carries about the source that writes it.
SourceMark source_mark(const SourceIdentity& identity);

/// Raises the epoch above the source's and above what any of the pipeline's indices carries, and makes both
/// sides note each other. When their last notes do not fit, one side was restored, promoted or replaced: jobs
/// are added that compare the indices with their views. When the source is a different database, positions
/// mean something else, so the changes in its outbox are skipped too. Throws Error when an alias is missing
/// or belongs to somebody else.
Epoch take_epoch(const AppliedPipeline& pipeline, Source& source, ElasticsearchClient& elasticsearch);

}  // namespace lockstep
