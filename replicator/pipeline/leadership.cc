#include "replicator/pipeline/leadership.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/index_plan.h"
#include "replicator/error.h"

namespace lockstep {
namespace {

void require_ours(const AppliedPipeline& pipeline, const AppliedIndex& index, const IndexMark& mark) {
  if (mark.identity == pipeline.identity) return;
  throw Error(
      {"taking over index " + index.alias,
       "it carries the mark of pipeline " + mark.pipeline + " (" + mark.identity + "), not of this one",
       "give this pipeline another alias, or delete the index if nobody needs it and run `lockstep apply`"});
}

// An index that has seen a later epoch than the source was written by a future that the source has lost.
void compare_with_views(Source& source, Epoch epoch, const std::vector<const AppliedIndex*>& indices) {
  if (indices.empty()) return;
  const std::unique_ptr<SourceTransaction> transaction = source.begin();
  for (const AppliedIndex* index : indices) {
    spdlog::warn(
        "index {} has seen a later epoch than the source: the source was restored from an older state; "
        "comparing them",
        index->alias);
    for (const JobKind kind : {JobKind::kBackfill, JobKind::kSweep}) {
      transaction->add_job(index->id, kind, "the source was restored from an older state");
    }
  }
  transaction->save(epoch, {});
  transaction->commit();
}

}  // namespace

AppliedPipeline load_applied(const Config& config, Source& source) {
  AppliedPipeline pipeline = source.load_pipeline();
  std::vector<std::string> configured;
  std::vector<std::string> applied;
  for (const IndexConfig& index : config.indices) configured.push_back(index.alias);
  for (const AppliedIndex& index : pipeline.indices) applied.push_back(index.alias);
  std::sort(configured.begin(), configured.end());
  std::sort(applied.begin(), applied.end());
  if (configured != applied) {
    throw UsageError(config.file.string() +
                     ": the indices are not those of the last `lockstep apply`; see what "
                     "differs with `lockstep plan`, then run `lockstep apply`");
  }
  return pipeline;
}

Epoch take_epoch(const AppliedPipeline& pipeline, Source& source, ElasticsearchClient& elasticsearch) {
  const Epoch before = source.epoch();
  Epoch seen = before;
  std::vector<const AppliedIndex*> ahead;
  for (const AppliedIndex& index : pipeline.indices) {
    const IndexMark mark = index_mark(elasticsearch, index.alias);
    require_ours(pipeline, index, mark);
    if (mark.epoch > before) ahead.push_back(&index);
    seen = std::max(seen, mark.epoch);
  }
  // The jobs first: once the epoch is raised nobody could tell any more that the index was ahead.
  compare_with_views(source, before, ahead);
  const Epoch epoch = source.raise_epoch(seen);
  for (const AppliedIndex& index : pipeline.indices) set_index_epoch(elasticsearch, index.alias, epoch);
  return epoch;
}

}  // namespace lockstep
