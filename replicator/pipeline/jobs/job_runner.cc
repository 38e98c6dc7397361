#include "replicator/pipeline/jobs/job_runner.h"

#include <algorithm>
#include <utility>

#include "replicator/pipeline/repair/view_page.h"

namespace lockstep {
namespace {

// Pages of one job that are not acknowledged: enough to keep Elasticsearch busy, few enough to be repeated
// after a crash.
constexpr std::size_t kOpenSteps = 4;

}  // namespace

JobRunner::JobRunner(const Config& config, const AppliedPipeline& pipeline, const SetAside& set_aside,
                     Source& source, DocumentWriter& writer, Checkpoint& checkpoint, VersionCounter& versions,
                     ElasticsearchClient& elasticsearch)
    : pipeline_(pipeline),
      set_aside_(set_aside),
      source_(source),
      writer_(writer),
      checkpoint_(checkpoint),
      versions_(versions),
      elasticsearch_(elasticsearch),
      // One fewer than there may be, so that the tail never waits for a job's.
      most_requests_(static_cast<std::size_t>(std::max(1, config.elasticsearch.bulks_in_flight - 1))),
      share_(most_requests_, config.replication.chunk_documents) {
  writer_.on_small_change([this](std::chrono::microseconds took) {
    share_.small_change_took(took, std::chrono::steady_clock::now());
  });
}

void JobRunner::add(Job job) {
  if (has(job.id)) return;
  RunningJob running;
  const auto index = std::find_if(pipeline_.indices.begin(), pipeline_.indices.end(),
                                  [&](const AppliedIndex& candidate) { return candidate.id == job.index; });
  if (index == pipeline_.indices.end()) return;  // added by an `apply` that this process has not seen
  running.index = &*index;
  running.read_to = job.position;
  running.job = std::move(job);
  jobs_.push_back(std::move(running));
}

bool JobRunner::has(std::int64_t job) const {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [&](const RunningJob& running) { return running.job.id == job; });
}

bool JobRunner::turn(const std::stop_token& stop) {
  if (jobs_.empty()) return false;
  const bool has_read = !ready_ && read_page();
  if (!ready_ || !has_room()) return has_read;
  ReadPage page = *std::exchange(ready_, std::nullopt);
  writer_.submit(page.lane, std::move(page.documents), std::move(page.end), stop);
  return true;
}

bool JobRunner::has_room() {
  const std::size_t on_wire = share_.requests(std::chrono::steady_clock::now());
  writer_.limit_jobs(on_wire);
  // One more may wait for the wire, so that Elasticsearch does not wait for us.
  return writer_.has_room() && writer_.job_requests_in_flight() < std::min(on_wire + 1, most_requests_);
}

bool JobRunner::read_page() {
  for (std::size_t tries = jobs_.size(); tries > 0; --tries) {
    RunningJob& job = jobs_.front();
    const bool has_read = read_page(job);
    jobs_.splice(jobs_.end(), jobs_, jobs_.begin());
    if (has_read) return true;
  }
  return false;
}

bool JobRunner::read_page(RunningJob& job) {
  const Lane lane{job.job.id};
  if (set_aside_.contains(job.job.index)) return false;
  if (job.job.kind == JobKind::kFanOut && !job.job.total) {
    if (job.job.behind && has(*job.job.behind)) return false;
    job.job.total = source_.expand(*job.index, job.job);
    if (!job.job.total) return false;
  }
  if (job.read_all || writer_.acknowledgements().open(lane) >= kOpenSteps) return false;
  const SteadyTime begun = std::chrono::steady_clock::now();
  page_documents_ = share_.documents(begun);
  page_bytes_ = writer_.job_bytes();
  // Elasticsearch is asked before the transaction is opened, which would have to wait for it.
  std::vector<FoundDocument> found;
  if (job.job.kind == JobKind::kSweep) found = next_found(job);
  std::int64_t compared = 0;
  if (job.job.kind == JobKind::kComparison && job.left_over.empty()) compared = next_different(job);

  std::unique_ptr<SourceTransaction> transaction = source_.begin();
  if (!job.begun) transaction->begin_job(job.job.id);
  job.begun = true;
  StepDocuments documents(versions_.epoch(), versions_.next(), static_cast<std::size_t>(page_bytes_));
  StepEnd end;
  switch (job.job.kind) {
    case JobKind::kBackfill:
      end.progress = backfill(job, *transaction, documents);
      break;
    case JobKind::kComparison:
      end.progress = replay(job, *transaction, documents);
      end.progress->done_documents = compared;
      break;
    case JobKind::kFanOut:
      if (job.left_over.empty()) {
        SourceTransaction::JobPage page = transaction->job_page(job.job, job.read_to, page_documents_);
        job.left_over = std::move(page.ids);
        job.page_position = std::move(page.position);
        job.last_page = page.end;
      }
      end.progress = replay(job, *transaction, documents);
      break;
    case JobKind::kSweep:
      end.progress = sweep(job, *transaction, documents, found);
      break;
  }
  job.rendered += end.progress->done_documents;
  checkpoint_.settle(std::move(transaction));
  share_.page_took(end.progress->done_documents, std::chrono::duration_cast<std::chrono::microseconds>(
                                                     std::chrono::steady_clock::now() - begun));
  ready_.emplace(ReadPage{lane, std::move(documents), std::move(end)});
  return true;
}

bool JobRunner::all_done() const {
  return std::all_of(jobs_.begin(), jobs_.end(),
                     [&](const RunningJob& running) { return set_aside_.contains(running.job.index); });
}

JobProgress JobRunner::progress_of(const RunningJob& job) const {
  JobProgress progress;
  progress.job = job.job.id;
  progress.kind = job.job.kind;
  progress.position = job.read_to.value_or("");
  progress.finished = job.read_all;
  return progress;
}

JobProgress JobRunner::backfill(RunningJob& job, SourceTransaction& transaction, StepDocuments& documents) {
  const SourceTransaction::Page page =
      transaction.render_page(*job.index, job.read_to, page_documents_, page_bytes_, documents.version(),
                              [&](const RenderedDocument& document) { documents.add(*job.index, document); });
  if (page.last) job.read_to = page.last;
  job.read_all = page.end;
  JobProgress progress = progress_of(job);
  progress.done_documents = static_cast<std::int64_t>(documents.documents());
  return progress;
}

JobProgress JobRunner::replay(RunningJob& job, SourceTransaction& transaction, StepDocuments& documents) {
  const std::size_t before = job.left_over.size();
  if (before > 0) {
    job.left_over =
        transaction.render(*job.index, job.left_over, page_bytes_, documents.version(),
                           [&](const RenderedDocument& document) { documents.add(*job.index, document); });
  }
  if (job.left_over.empty()) {
    job.read_to = job.page_position;
    job.read_all = job.last_page;
  }
  JobProgress progress = progress_of(job);
  if (!job.read_to && job.job.kind == JobKind::kFanOut) progress.position = "0";
  progress.done_documents = static_cast<std::int64_t>(before - job.left_over.size());
  return progress;
}

// Takes a page of the view in hand, less what Elasticsearch has as it is; returns the size of the page.
std::int64_t JobRunner::next_different(RunningJob& job) {
  const ViewPage page = read_view_page(source_, *job.index, job.read_to, page_documents_, page_bytes_);
  job.last_page = page.end;
  job.page_position = page.last.value_or(job.read_to.value_or(""));
  for (FoundDocument& document : find_different(elasticsearch_, *job.index, page)) {
    job.left_over.push_back(std::move(document.id));
  }
  return static_cast<std::int64_t>(page.documents.size());
}

std::vector<FoundDocument> JobRunner::next_found(RunningJob& job) {
  if (!job.scan) {
    elasticsearch_.refresh(job.index->alias);
    ScanOptions options;
    options.page = static_cast<std::size_t>(page_documents_);
    job.scan = std::make_unique<DocumentScan>(elasticsearch_, job.index->alias, options);
  }
  std::vector<FoundDocument> found;
  for (const StoredDocument& document : job.scan->next()) {
    found.push_back({std::string(document.id), std::string(document.routing)});
  }
  return found;
}

void JobRunner::remove_stale(const AppliedIndex& index, SourceTransaction& transaction,
                             StepDocuments& documents, const std::vector<FoundDocument>& found) {
  Values elsewhere;
  for (StaleDocument& stale : transaction.stale(index, found)) {
    documents.remove(index, stale.found);
    if (stale.elsewhere) elsewhere.push_back(std::move(stale.found.id));
  }
  // A document may have moved since it was found, and two routings may lead to one shard: the delete under
  // the old one takes the document along, so it is written again, with the step's greater version (W2).
  while (!elsewhere.empty()) {
    elsewhere = transaction.render(index, elsewhere, page_bytes_, documents.version(),
                                   [&](const RenderedDocument& document) { documents.add(index, document); });
  }
}

JobProgress JobRunner::sweep(RunningJob& job, SourceTransaction& transaction, StepDocuments& documents,
                             const std::vector<FoundDocument>& found) {
  if (found.empty()) {
    job.read_all = true;
    job.scan.reset();
  } else {
    remove_stale(*job.index, transaction, documents, found);
  }
  JobProgress progress = progress_of(job);
  progress.position = "scanning";
  progress.done_documents = static_cast<std::int64_t>(found.size());
  return progress;
}

void JobRunner::saved(const Acknowledged& acknowledged) {
  for (const JobProgress& progress : acknowledged.jobs) {
    if (progress.finished) {
      jobs_.remove_if([&](const RunningJob& running) { return running.job.id == progress.job; });
    }
  }
}

std::vector<std::pair<int, JobStatus>> JobRunner::progress() const {
  std::vector<std::pair<int, JobStatus>> all;
  for (const RunningJob& running : jobs_) {
    all.emplace_back(running.job.index, JobStatus{running.job.id, running.job.kind, running.job.reason,
                                                  running.job.done + running.rendered, running.job.total});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.id < b.second.id; });
  return all;
}

}  // namespace lockstep
