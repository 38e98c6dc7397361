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

/// The pipeline as `apply` has left it. Throws UsageError when the configuration names other indices.
AppliedPipeline load_applied(const Config& config, Source& source);

/// How an index notes the source that it is written from.
SourceMark source_mark(const SourceIdentity& identity);

/// Raises the epoch above the source's and above what any of the pipeline's indices carries, and lets both
/// sides note each other. When what they have noted the last time does not fit, one of them was restored,
/// promoted or replaced: jobs that compare the indices with their views are added, and when the source is
/// another database, whose positions mean something else, its outbox is given up. Throws Error when an alias
/// is missing or belongs to somebody else.
Epoch take_epoch(const AppliedPipeline& pipeline, Source& source, ElasticsearchClient& elasticsearch);

}  // namespace lockstep
