#include "replicator/pipeline/leadership.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/generations.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/error.h"
#include "replicator/log/log.h"

namespace lockstep {
namespace {

// Why an index may differ from its view although every change was applied. Empty: nothing suggests it.
std::string doubt_about_source(const MarkedIndex& marked, const SourceIdentity& source, Epoch epoch) {
  const SourceMark& last = marked.mark.source;
  if (marked.mark.epoch > epoch) return "the source was restored from an older state";
  if (last.place.empty()) return "";
  if (last.place != source.place) return "the source is a different database now";
  if (last.timeline.empty() != source.timeline.empty())
    return "the source shows more or less of its WAL than before, so nothing shows whether it went back";
  if (last.timeline != source.timeline) return "the source was promoted, or recovered to an earlier point";
  const bool is_restored = !last.tables.empty() && last.tables != source.tables;
  if (is_restored) return "lockstep's tables in the source were made again, as restoring a dump does";
  const bool lacks_mark = !last.mark.empty() && std::find(source.marks.begin(), source.marks.end(),
                                                          last.mark) == source.marks.end();
  if (lacks_mark || last.progress > source.progress) return "the source was restored from an older state";
  return "";
}

std::string doubt_about_target(const AppliedIndex& index, const MarkedIndex& marked,
                               const KnownPartners& known) {
  if (!marked.mark.doubt.empty()) return marked.mark.doubt;
  const auto target = known.targets.find(index.id);
  if (target == known.targets.end()) return "";
  if (target->second == kUnknownTarget) return "it was not written because its alias or its mark was wrong";
  if (target->second != marked.uuid) return "the index was recreated or restored from a snapshot";
  return "";
}

struct Doubt {
  const AppliedIndex* index;
  std::string reason;
};

// The jobs come first. Once the epoch is raised and the partners are noted, the evidence is gone.
void compare_with_views(ChangeLog& changes, Epoch epoch, const std::vector<Doubt>& doubts, bool other_place) {
  if (doubts.empty() && !other_place) return;
  const std::unique_ptr<SourceTransaction> transaction = changes.begin(epoch);
  if (other_place) {
    spdlog::warn(
        "the source is a different database than last time; its outbox is skipped, and every index is "
        "compared");
    transaction->skip_changes();
  }
  for (const Doubt& doubt : doubts) {
    const LogField field("index", doubt.index->alias);
    spdlog::warn("index {}: {}; it is compared with its view", doubt.index->alias, doubt.reason);
    for (const JobKind kind : {JobKind::kComparison, JobKind::kSweep}) {
      transaction->add_job(doubt.index->id, kind, doubt.reason);
    }
  }
  transaction->commit();
}

// A block that keeps the mark out keeps documents out as well. The target watch notes it later.
void mark(ElasticsearchClient& elasticsearch, const AppliedIndex& index, const std::string& identity,
          Epoch epoch, const SourceMark& source, const std::string& settled) {
  try {
    set_index_writer(elasticsearch, index.target(), sought_index(index), identity, epoch, source, settled);
  } catch (const Error& error) {
    if (!error.retryable()) throw;
    const LogField field("index", index.alias);
    spdlog::warn(
        "index {} does not take the mark of its new leader now, which is tried again; the others continue: "
        "{}",
        index.alias, error.what());
  }
}

// A deleted generation next to another ends its reindex (reindexing.h), and not the pipeline.
bool is_deleted_generation(ElasticsearchClient& elasticsearch, const AppliedIndex& index) {
  return index.beside && elasticsearch.indices_of(index.target()).empty();
}

// Indices that cannot be written under the new epoch. One of them stops no other (promise 4).
class UnfitIndices {
 public:
  UnfitIndices(const AppliedPipeline& pipeline, KnownPartners& partners)
      : pipeline_(pipeline), partners_(partners) {}

  const std::map<IndexId, std::string>& why() const { return why_; }

  // Throws errors that a later try may fix.
  void unless_fit(const AppliedIndex& index, const std::function<void()>& step) {
    try {
      step();
    } catch (const Error& error) {
      if (error.retryable() || error.parts().server == Server::kSource) throw;
      why_[index.id] = error.what();
      partners_.targets[index.id] = kUnknownTarget;
      if (!first_) first_ = error.parts();
    }
  }

  // Without any, the pipeline's Elasticsearch is to blame, and the operator has to fix that.
  void require_a_fit_one() const {
    const bool all = std::all_of(pipeline_.indices.begin(), pipeline_.indices.end(),
                                 [&](const AppliedIndex& index) { return why_.contains(index.id); });
    if (!all || !first_) return;
    throw Error({first_->doing, first_->cause, first_->remedy, Retry::kNever, Server::kElasticsearch});
  }

 private:
  const AppliedPipeline& pipeline_;
  KnownPartners& partners_;
  std::map<IndexId, std::string> why_;
  std::optional<Error::Parts> first_;
};

}  // namespace

const AppliedPipeline& load_applied(const Config& config, Source& source) {
  source.reload();
  const AppliedPipeline& pipeline = source.pipeline();
  std::vector<std::string> configured;
  std::vector<std::string> applied;
  for (const IndexConfig& index : config.indices) configured.push_back(index.alias);
  for (const AppliedIndex& index : pipeline.indices) {
    if (!index.beside) applied.push_back(index.alias);
  }
  std::sort(configured.begin(), configured.end());
  std::sort(applied.begin(), applied.end());
  if (configured != applied) {
    throw OtherIndices(config.file.string() +
                       ": the indices are not those of the last `lockstep apply`; see the "
                       "differences with `lockstep plan`, then run `lockstep apply`");
  }
  return pipeline;
}

std::string remedy_of_lost_generation(const std::string& alias) {
  return "if the alias has moved before, `lockstep reindex --back " + alias +
         "` points it to the other index; if not, it moves there when that is full, or `lockstep reindex "
         "--abort " +
         alias + "` ends the reindex";
}

SoughtIndex sought_index(const AppliedIndex& index) {
  if (!index.written_by) return {index.alias, "run `lockstep apply`", remedy_of_lost_mark(index.alias)};
  const std::string name = index_written_by(*index.written_by);
  if (!index.beside) return {name, remedy_of_lost_generation(index.alias), remedy_of_lost_mark(index.alias)};
  const std::string end_it = "end the reindex with `lockstep reindex --finish " + *index.beside +
                             "`, or with --abort before the alias has moved";
  return {name, end_it, end_it + ", then delete the index " + name};
}

void require_ours(const AppliedPipeline& pipeline, const AppliedIndex& index, const IndexMark& mark) {
  if (mark.identity == pipeline.identity) return;
  const bool may_be_adopted = mark.pipeline == pipeline.name && !index.beside;
  throw Error(
      {"taking over index " + index.alias,
       "it carries the mark of pipeline " + mark.pipeline + " (" + mark.identity + "), not of this one",
       "give this pipeline another alias, or delete the index if it is not needed and run `lockstep apply`" +
           (may_be_adopted ? "; if that installation is gone, run `lockstep adopt " + index.alias + "`"
                           : "")});
}

SourceMark source_mark(const SourceIdentity& identity) {
  return {identity.place, identity.timeline, identity.progress, identity.tables,
          identity.marks.empty() ? std::string() : identity.marks.back()};
}

TakenLead take_epoch(const AppliedPipeline& pipeline, Source& source, ElasticsearchClient& elasticsearch) {
  Lead& lead = source.lead();
  const Epoch before = lead.epoch();
  const SourceIdentity identity = lead.identity();
  const KnownPartners known = lead.known_partners();
  const bool other_place = !known.place.empty() && known.place != identity.place;
  KnownPartners partners{identity.place, {}};
  Epoch seen = before;
  std::vector<Doubt> doubts;
  std::set<IndexId> may_have_forgotten;    // whose source may know nothing of a later reindex
  std::map<IndexId, std::string> settled;  // the doubts of marks
  UnfitIndices unfit(pipeline, partners);
  for (const AppliedIndex& index : pipeline.indices) {
    unfit.unless_fit(index, [&] {
      if (is_deleted_generation(elasticsearch, index)) return;
      const MarkedIndex marked = marked_index(elasticsearch, index.target(), sought_index(index));
      require_ours(pipeline, index, marked.mark);
      std::string doubt = doubt_about_source(marked, identity, before);
      if (doubt.empty() && other_place) doubt = "the source is a different database now";
      if (!doubt.empty()) may_have_forgotten.insert(index.id);
      const bool is_noted = !marked.mark.doubt.empty();  // which is nearer to the cause
      if (doubt.empty() || is_noted) doubt = doubt_about_target(index, marked, known);
      if (!doubt.empty()) doubts.push_back({&index, doubt});
      partners.targets[index.id] = marked.uuid;
      settled[index.id] = marked.mark.doubt;
      seen = std::max(seen, marked.mark.epoch);
    });
  }
  unfit.require_a_fit_one();
  compare_with_views(source.changes(), before, doubts, other_place);
  Epoch epoch = lead.raise_epoch(seen, partners);
  const SourceMark now = source_mark(lead.identity());
  const std::size_t unfit_before = unfit.why().size();
  for (const AppliedIndex& index : pipeline.indices) {
    if (!partners.targets.contains(index.id) || unfit.why().contains(index.id)) continue;
    unfit.unless_fit(index, [&] {
      const bool has_one = !index.written_by;
      if (has_one && may_have_forgotten.contains(index.id))
        drop_forgotten(elasticsearch, index.alias, pipeline.identity);
      mark(elasticsearch, index, pipeline.identity, epoch, now, settled[index.id]);
    });
  }
  unfit.require_a_fit_one();
  if (unfit.why().size() > unfit_before) epoch = lead.raise_epoch(epoch, partners);
  return {epoch, unfit.why()};
}

}  // namespace lockstep
