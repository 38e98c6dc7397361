#include "replicator/pipeline/jobs/sweep.h"

#include <string>
#include <utility>

namespace lockstep {

Sweep::Sweep(Job job, const AppliedIndex& index, ElasticsearchClient& elasticsearch)
    : RunningJob(std::move(job), index), elasticsearch_(elasticsearch) {}

void Sweep::look_ahead(const PageLimits& limits) {
  if (!scan_) {
    elasticsearch_.refresh(index().alias);
    ScanOptions options;
    options.page = static_cast<std::size_t>(limits.documents);
    scan_ = std::make_unique<DocumentScan>(elasticsearch_, index().alias, options);
  }
  found_.clear();
  for (const StoredDocument& document : scan_->next())
    found_.push_back({DocumentId{std::string(document.id)}, std::string(document.routing)});
}

std::int64_t Sweep::read(SourceTransaction& transaction, StepDocuments& documents, const PageLimits& limits) {
  move_to(Scanning{});
  if (found_.empty()) {
    finish_reading();
    scan_.reset();
  } else {
    remove_stale(transaction, documents, limits);
  }
  return static_cast<std::int64_t>(found_.size());
}

void Sweep::remove_stale(SourceTransaction& transaction, StepDocuments& documents, const PageLimits& limits) {
  DocumentIds elsewhere;
  for (StaleDocument& stale : transaction.stale(index(), found_)) {
    documents.remove(index(), stale.found);
    if (stale.elsewhere) elsewhere.push_back(std::move(stale.found.id));
  }
  // A document may have moved since the scan found it, and two routings may lead to one shard: then the
  // delete under the old routing takes the document along. So the step writes it again, with its greater
  // version (W2).
  while (!elsewhere.empty()) {
    elsewhere =
        transaction.render_for(documents.version(), index(), elsewhere, limits.bytes,
                               [&](const RenderedDocument& document) { documents.add(index(), document); });
  }
}

}  // namespace lockstep
