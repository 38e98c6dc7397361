// The first step of a new leader, before it writes anything: it makes sure that configuration, source and
// Elasticsearch belong together, and raises the epoch above all that either side has seen.
#pragma once

#include <map>
#include <string>

#include "replicator/config/config.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/error.h"
#include "replicator/ids.h"
#include "replicator/source/source.h"

namespace lockstep {

/// The configuration names other indices than the last `lockstep apply` did. Of a process that has led
/// before, the file was read before that.
class OtherIndices : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Reloads the applied pipeline from the source, and returns it. Throws OtherIndices if the configuration
/// names other indices.
const AppliedPipeline& load_applied(const Config& config, Source& source);

/// An index's note on the source that writes it.
SourceMark source_mark(const SourceIdentity& identity);

/// The remedy if the index that `alias` points to is gone while a reindex of it is under way.
std::string remedy_of_lost_generation(const std::string& alias);

/// The words for looking up the real index of `index`, which may be one of two generations.
SoughtIndex sought_index(const AppliedIndex& index);

/// Throws Error if an index of `pipeline` carries the mark of another one.
void require_ours(const AppliedPipeline& pipeline, const AppliedIndex& index, const IndexMark& mark);

/// In KnownPartners::targets, in place of an index's uuid: the index behind the alias must be compared.
inline constexpr const char* kUnknownTarget = "unknown";

struct TakenLead {
  Epoch epoch;
  /// Indices that may not be written under this epoch, and why: the alias is missing, or points to an index
  /// that is not this pipeline's, or the mark can be neither read nor written. The source knows their targets
  /// as kUnknownTarget.
  std::map<IndexId, std::string> unfit;
};

/// Raises the epoch above the source's and above that of each of the pipeline's indices, and makes both sides
/// note each other. If their last notes do not fit, one side was restored, promoted or replaced: jobs are
/// added that compare the indices with their views. If the source is a different database, positions have
/// another meaning, so the changes in its outbox are skipped too. Throws Error if no index is fit: then it is
/// the wrong Elasticsearch, or it refuses everything.
TakenLead take_epoch(const AppliedPipeline& pipeline, Source& source, ElasticsearchClient& elasticsearch);

}  // namespace lockstep
