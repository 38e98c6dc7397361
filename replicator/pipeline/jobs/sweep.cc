#include "replicator/pipeline/jobs/sweep.h"

#include <chrono>
#include <string>
#include <utility>

#include "replicator/clock.h"

namespace lockstep {

Sweep::Sweep(Job job, const AppliedIndex& index, const DocumentWriter& writer, SteadyTime write_lifetime_over)
    : RunningJob(std::move(job), index), writer_(writer), write_lifetime_over_(write_lifetime_over) {}

bool Sweep::is_ready() {
  if (scan_ || !has_begun()) return true;  // truncations until it begins join it
  // Not before: a page of another job may have been read and not taken over when this job came.
  if (!requests_before_) requests_before_ = writer_.requests_taken_over();
  return writer_.requests_done_before() >= *requests_before_ && steady_now() >= not_before_;
}

void Sweep::begin_scan(const LookAhead& ask, const PageLimits& limits) {
  if (!elasticsearch_) elasticsearch_ = ask.open_client();
  rests_ = false;
  scan_begun_ = steady_now();
  elasticsearch_->refresh(index().target());
  ScanOptions options;
  options.page = static_cast<std::size_t>(limits.documents);
  scan_ = std::make_unique<DocumentScan>(*elasticsearch_, index().target(), options);
}

bool Sweep::look_ahead(const LookAhead& ask, const PageLimits& limits) {
  if (!scan_) begin_scan(ask, limits);
  found_.clear();
  try {
    for (const StoredDocument& document : scan_->next())
      found_.push_back({DocumentId{std::string(document.id)}, std::string(document.routing)});
  } catch (...) {
    scan_.reset();  // it cannot be continued
    throw;
  }
  return true;
}

std::int64_t Sweep::read(SourceTransaction& transaction, StepDocuments& documents, const PageLimits& limits) {
  move_to(Scanning{});
  if (found_.empty()) {
    scan_.reset();
    not_before_ = write_lifetime_over_;
    rests_ = needs_another_scan();
    if (!rests_) finish_reading();
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
