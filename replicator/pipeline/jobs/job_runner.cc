#include "replicator/pipeline/jobs/job_runner.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

#include "replicator/error.h"
#include "replicator/log/log.h"
#include "replicator/pipeline/jobs/backfill.h"
#include "replicator/pipeline/jobs/comparison.h"
#include "replicator/pipeline/jobs/sweep.h"
#include "replicator/pipeline/rendering.h"
#include "replicator/warnings.h"

namespace lockstep {
namespace {

// Pages of one job that are not acknowledged: enough to keep Elasticsearch busy, few enough to be repeated
// after a crash.
constexpr std::size_t kOpenSteps = 4;

// Pages that one job asks Elasticsearch for at a time: it looks one up while the source renders the next.
constexpr std::size_t kAskedPages = 2;

// A list with additions within this time still grows.
constexpr std::chrono::milliseconds kStillGrows{200};
// One page of so many is that of the work whose turn it is, all the same.
constexpr std::uint64_t kForAll = 8;

// Until work is tried again when Elasticsearch or the source has not answered it.
constexpr std::chrono::milliseconds kFailurePause{10'000};
constexpr std::chrono::milliseconds kSourcePause{2'000};

// The log reports the end of a longer sweep.
constexpr std::chrono::seconds kLongJob{5};

// A page that was read waits so long while the tail takes all room there is.
constexpr std::chrono::milliseconds kPagePatience{200};

// If Elasticsearch does not answer about one index (it is closed, say), the work on the others continues, and
// a source that does not answer a background reading does not stop the tail.
void put_off(PagedWork& work, const Error& error) {
  const LogField field("index", work.index().alias);
  spdlog::warn("{} is tried again: {}", work.name(), error.what());
  work.put_off(error.what(),
               steady_now() + (error.parts().server == Server::kSource ? kSourcePause : kFailurePause));
}

bool is_source_away(const Error& error) {
  return error.parts().server == Server::kSource && error.retryable();
}

std::string reading(const PagedWork& work) {
  return "reading a page of " + work.name();
}

bool is_whole(JobKind kind) {
  return kind == JobKind::kBackfill || kind == JobKind::kComparison;
}

}  // namespace

JobRunner::JobRunner(const Config& config, const AppliedPipeline& pipeline, const Standing& standing,
                     ChangeLog& changes, DocumentWriter& writer, Checkpoint& checkpoint,
                     VersionCounter& versions, ProgressBoard& board, OpenClient open_client,
                     SteadyTime write_lifetime_over, std::function<void()> on_read)
    : pipeline_(pipeline),
      standing_(standing),
      changes_(changes),
      writer_(writer),
      checkpoint_(checkpoint),
      versions_(versions),
      board_(board),
      open_client_(std::move(open_client)),
      // One fewer than there may be, so that the tail never waits for a request of a job.
      most_requests_(static_cast<std::size_t>(std::max(1, config.elasticsearch.bulks_in_flight - 1))),
      write_lifetime_over_(write_lifetime_over),
      bulk_bytes_(config.elasticsearch.bulk_bytes),
      share_(most_requests_, config.replication.chunk_documents) {
  if (std::unique_ptr<PageConnection> connection = changes.page_connection())
    reader_ = std::make_unique<PageReader>(std::move(connection), versions, open_client_, std::move(on_read));
  for (const AppliedIndex& index : pipeline.indices) add_due(index);
}

void JobRunner::add_due(const AppliedIndex& index) {
  auto work = std::make_unique<DueWork>(
      index, DueWork::World{changes_,
                            [this](IndexId in, const DocumentId& id, DocumentVersion version) {
                              return writer_.is_written_since(in, id, version);
                            },
                            [this](FoundDue found) { take(std::move(found)); }});
  due_[index.id] = work.get();
  work_.push_back(std::move(work));
}

void JobRunner::add(Job job) {
  if (has(job.id)) return;
  const AppliedIndex* const index = pipeline_.find(job.index);
  if (index == nullptr) return;  // added by an `apply` that this process has not seen
  std::unique_ptr<RunningJob> running = make(std::move(job), *index);
  jobs_[running->id()] = running.get();
  work_.push_back(std::move(running));
}

void JobRunner::add(Committed committed) {
  for (Job& job : committed.jobs) add(std::move(job));
  for (const IndexId index : committed.due) {
    if (const auto due = due_.find(index); due != due_.end()) due->second->note_added();
  }
}

void JobRunner::note_due(const std::vector<DueList>& lists) {
  for (const auto& [index, due] : due_) {
    const auto list = std::ranges::find(lists, index, &DueList::index);
    due->note_list(list == lists.end() ? std::nullopt : std::optional(*list));
  }
}

std::unique_ptr<PagedWork> JobRunner::extract(Lane lane) {
  const auto found = std::ranges::find_if(work_, [&](const auto& each) { return each->lane() == lane; });
  if (found == work_.end()) return nullptr;
  std::unique_ptr<PagedWork> work = std::move(*found);
  work_.erase(found);
  if (lane.job) jobs_.erase(*lane.job);
  return work;
}

void JobRunner::forget(IndexId index) {
  std::vector<Lane> lanes;
  for (const auto& work : work_) {
    if (work->index().id == index) lanes.push_back(work->lane());
  }
  for (const Lane lane : lanes) {
    if (ready_ && ready_->lane == lane) ready_.reset();
    std::unique_ptr<PagedWork> work = extract(lane);
    if (work.get() == being_read_) forgotten_ = std::move(work);
  }
  add_due(*pipeline_.find(index));
}

std::unique_ptr<RunningJob> JobRunner::make(Job job, const AppliedIndex& index) {
  switch (job.kind) {
    case JobKind::kBackfill:
      return std::make_unique<Backfill>(std::move(job), index);
    case JobKind::kComparison:
      return std::make_unique<Comparison>(std::move(job), index);
    case JobKind::kSweep:
      return std::make_unique<Sweep>(std::move(job), index, writer_, write_lifetime_over_);
  }
  throw Error({"taking up job " + std::to_string(job.id.value), "it is of an unknown kind"});
}

bool JobRunner::has(JobId job) const {
  return jobs_.contains(job);
}

void JobRunner::take(FoundDue found) {
  unknown_captures_.insert(found.unknown_captures.begin(), found.unknown_captures.end());
  for (Job& job : found.added) add(std::move(job));
}

bool JobRunner::turn() {
  const bool has_worked = !ready_ && (being_read_ != nullptr ? take_page() : read_page());
  if (!ready_) return has_worked;
  if (!has_room()) return has_worked;
  ReadPage ready = *std::exchange(ready_, std::nullopt);
  StepEnd end;
  end.progress = std::move(ready.page.end.progress);
  end.written = std::move(ready.page.end.written);
  end.since = ready.page.end.since;
  writer_.submit(ready.lane, std::move(ready.page.documents), std::move(end));
  return true;
}

bool JobRunner::page_goes_first() const {
  return ready_ && steady_now() - ready_->since >= kPagePatience;
}

bool JobRunner::has_room() {
  const std::size_t on_wire = share_.requests(steady_now());
  // One more may wait for the wire, so that Elasticsearch does not wait for us.
  return writer_.has_room_for_jobs(on_wire, std::min(on_wire + 1, most_requests_));
}

// The due documents of a searched index that grows no more are soon written: most pages are theirs, and not
// those of a backfill or of the next generation.
bool JobRunner::read_page() {
  const bool is_for_all = ++pages_read_ % kForAll == 0;
  for (const auto& [index, due] : due_) {
    const bool goes_first = !due->index().beside && steady_now() - due->added_at() >= kStillGrows;
    if (goes_first && !is_for_all && read_page(*due)) return true;
  }
  for (std::size_t tries = work_.size(); tries > 0; --tries) {
    const Lane lane = work_.front()->lane();
    const bool has_read = read_page(*work_.front());
    if (work_.front()->lane() == lane) work_.splice(work_.end(), work_, work_.begin());
    if (has_read) return true;
  }
  return false;
}

// Further ones join the one that has not begun. Side by side all would write the same documents, and a table
// that is emptied every second would never be caught up with.
bool JobRunner::waits_for_one_of_its_kind(const PagedWork& work) const {
  const auto job = work.lane().job ? jobs_.find(*work.lane().job) : jobs_.end();
  if (job == jobs_.end() || job->second->kind() == JobKind::kComparison || work.has_begun()) return false;
  return std::ranges::any_of(jobs_, [&](const auto& other) {
    return other.second->kind() == job->second->kind() && other.second->index().id == work.index().id &&
           other.second->has_begun();
  });
}

bool JobRunner::is_ready(PagedWork& work) {
  const IndexId index = work.index().id;
  if (standing_.is_paused(index) || waits_for_one_of_its_kind(work)) return false;
  const bool waits = !standing_.takes_writes(index) || writer_.holds_back(index, BulkPriority::kBackground);
  if (waits && !work.keeps_rows()) return false;
  if (work.is_put_off(steady_now())) return false;
  if (const RateLimit* const limit = limit_of(work); limit != nullptr && limit->documents(steady_now()) == 0)
    return false;
  const std::size_t most_open = work.awaits_outcomes() ? 1 : kOpenSteps;
  if (work.all_read() || writer_.acknowledgements().open(work.lane()) >= most_open) return false;
  return work.is_ready() && !waits;
}

PageLimits JobRunner::limits_of(PagedWork& work) {
  const SteadyTime now = steady_now();
  PageLimits limits{share_.documents(now), bulk_bytes_, std::min(kAskedPages, share_.requests(now))};
  if (!work.has_begun()) limits.documents = std::min(limits.documents, kFirstDocuments);
  if (const RateLimit* const limit = limit_of(work)) {
    jobs_.at(*work.lane().job)->note_limit();
    limits.documents = std::min(limits.documents, limit->documents(now));
    limits.ahead = 1;  // a reading counts when it is used
  }
  return limits;
}

// Due documents are found on a connection of its own, too.
bool JobRunner::read_page(PagedWork& work) {
  try {
    if (!is_ready(work)) return false;
  } catch (const Error& error) {
    if (!is_source_away(error)) throw;
    put_off(work, error);
    return false;
  }
  const PageLimits limits = limits_of(work);
  try {
    // Committed before the page's snapshot is taken: later changes join no job that has begun.
    if (work.lane().job && !work.has_begun()) {
      std::unique_ptr<SourceTransaction> transaction = changes_.begin(versions_.epoch());
      work.begin(*transaction);
      checkpoint_.settle(*transaction);
      transaction.reset();
      if (!work.is_ready()) return true;
    }
    if (reader_ == nullptr || work.index().routed) {
      std::optional<PageInStep> page = read_here(work, limits);
      if (page) {
        note(work, *std::move(page));
        return true;
      }
      return false;
    }
    reader_->start(work, limits);
    being_read_ = &work;
    read_note_.emplace(board_, &ReplicationProgress::job_reads, reading(work));
    return true;
  } catch (const Error& error) {
    const bool is_too_slow = dynamic_cast<const ViewTooSlow*>(&error) != nullptr;
    if (!is_too_slow && error.parts().server != Server::kElasticsearch) throw;
    PagedWork* const later = is_too_slow ? take_up_again(work.lane()) : &work;
    if (later != nullptr) put_off(*later, error);
    return false;
  }
}

// None: Elasticsearch has not answered yet, and the tail does not wait for that.
std::optional<PageInStep> JobRunner::read_here(PagedWork& work, const PageLimits& limits) {
  const SteadyTime begun = steady_now();
  const LookAhead ask{[this] { return changes_.read(); }, open_client_, false};
  if (!work.look_ahead(ask, limits)) return std::nullopt;
  std::unique_ptr<SourceTransaction> transaction = changes_.begin(versions_.epoch());
  StepDocuments documents(versions_.epoch(), versions_.number(*transaction),
                          static_cast<std::size_t>(limits.bytes));
  work.begin(*transaction);
  PageEnd end = [&] {
    const ReadingNote note(board_, &ReplicationProgress::loop_reads, reading(work));
    return work.read_page(*transaction, documents, limits);
  }();
  checkpoint_.settle(*transaction);
  return PageInStep{std::move(documents), std::move(end), true,
                    std::chrono::duration_cast<std::chrono::microseconds>(steady_now() - begun)};
}

bool JobRunner::take_page() {
  std::optional<PageInStep> page;
  try {
    page = reader_->take();
    if (!page) return false;
  } catch (const ViewError&) {
    if (end_reading() != nullptr) throw;
    return true;
  } catch (const Error& error) {
    PagedWork* work = end_reading();
    const bool source_is_away = is_source_away(error);
    if (!source_is_away && error.parts().server != Server::kElasticsearch) throw;
    if (work != nullptr && source_is_away) work = take_up_again(work->lane());
    if (work != nullptr) put_off(*work, error);
    return true;
  }
  PagedWork* const work = end_reading();
  if (!page->is_durable) checkpoint_.make_durable();
  if (work != nullptr) note(*work, *std::move(page));
  return true;
}

PagedWork* JobRunner::end_reading() {
  read_note_.reset();
  PagedWork* const work = std::exchange(being_read_, nullptr);
  return std::exchange(forgotten_, nullptr) == nullptr ? work : nullptr;
}

PagedWork* JobRunner::take_up_again(Lane lane) {
  if (lane.due) {
    DueWork* const due = due_.at(*lane.due);
    due->start_over();
    return due;
  }
  extract(lane);
  for (Job& job : changes_.jobs().readable) {
    if (job.id == lane.job) add(std::move(job));
  }
  const auto job = jobs_.find(*lane.job);
  return job == jobs_.end() ? nullptr : job->second;
}

void JobRunner::note(PagedWork& work, PageInStep page) {
  work.note(page.end);
  work.end_trouble();
  share_.page_took(page.end.documents, page.took);
  if (RateLimit* const limit = limit_of(work)) limit->took(page.end.documents, steady_now() - page.took);
  ready_.emplace(ReadPage{work.lane(), std::move(page), steady_now()});
}

bool JobRunner::all_done_since(SteadyTime time) const {
  const auto is_over = [&](IndexId index, bool is_done) { return is_done || standing_.is_paused(index); };
  return std::ranges::all_of(jobs_,
                             [&](const auto& job) { return is_over(job.second->index().id, false); }) &&
         std::ranges::all_of(
             due_, [&](const auto& due) { return is_over(due.first, !due.second->is_due_since(time)); });
}

void JobRunner::limit_rates(const std::map<IndexId, std::int64_t>& rates, SteadyTime now) {
  std::erase_if(limits_, [&](const auto& limit) {
    const auto rate = rates.find(limit.first);
    return rate == rates.end() || rate->second != limit.second.per_second();
  });
  for (const auto& [index, per_second] : rates) limits_.try_emplace(index, per_second, now);
}

// Work that carries changes is never limited.
RateLimit* JobRunner::limit_of(const PagedWork& work) {
  const auto limit = limits_.find(work.index().id);
  if (limit == limits_.end() || !work.lane().job) return nullptr;
  return is_whole(jobs_.at(*work.lane().job)->kind()) ? &limit->second : nullptr;
}

std::vector<JobRunner::Measured> JobRunner::saved(const Acknowledged& acknowledged) {
  for (const auto& [index, due] : due_) due->note_written(acknowledged.written_pages);
  std::vector<Measured> measured;
  for (const JobProgress& progress : acknowledged.jobs) {
    if (!progress.finished) continue;
    const auto job = jobs_.find(progress.job);
    if (job == jobs_.end()) continue;
    const SteadyTime now = steady_now();
    tell_end(*job->second, now);
    const std::optional<Pace> pace = job->second->pace(now);
    if (is_whole(progress.kind) && pace) measured.push_back({job->second->index().id, progress.kind, *pace});
    extract(Lane::of(progress.job));
  }
  return measured;
}

void JobRunner::tell_end(const RunningJob& job, SteadyTime now) {
  if (!is_whole(job.kind()) && job.age(now) < kLongJob) return;
  const LogField field("index", job.index().alias);
  spdlog::info("{}", job.text_of_end(now));
}

std::string JobRunner::trouble(IndexId index) const {
  for (const auto& work : work_) {
    if (work->index().id == index && !work->trouble().empty()) return work->trouble();
  }
  return "";
}

std::vector<std::string> JobRunner::troubles() const {
  std::vector<std::string> all;
  for (const auto& work : work_) {
    if (!work->trouble().empty()) all.push_back(warning("job_stuck", {work->name(), work->trouble()}));
  }
  return all;
}

std::vector<std::pair<IndexId, JobStatus>> JobRunner::progress() const {
  std::vector<std::pair<IndexId, JobStatus>> all;
  for (const auto& [id, running] : jobs_) {
    const IndexId index = running->index().id;
    JobStatus& job = all.emplace_back(index, running->status()).second;
    job.trouble = running->trouble();
    job.rests = running->rests() || waits_for_one_of_its_kind(*running);
    job.waits = !job.trouble.empty() || standing_.is_paused(index) || !standing_.takes_writes(index);
  }
  return all;
}

}  // namespace lockstep
