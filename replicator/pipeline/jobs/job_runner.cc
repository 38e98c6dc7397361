#include "replicator/pipeline/jobs/job_runner.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

#include "replicator/error.h"
#include "replicator/log/log.h"
#include "replicator/pipeline/jobs/backfill.h"
#include "replicator/pipeline/jobs/comparison.h"
#include "replicator/pipeline/jobs/fan_out.h"
#include "replicator/pipeline/jobs/sweep.h"
#include "replicator/pipeline/rendering.h"

namespace lockstep {
namespace {

// Pages of one job that are not acknowledged: enough to keep Elasticsearch busy, few enough to be repeated
// after a crash.
constexpr std::size_t kOpenSteps = 4;

// Pages that one job asks Elasticsearch for at a time: it looks one up while the source renders the next.
constexpr std::size_t kAskedPages = 2;

// Until a job for parked documents begins, and until a job is tried again when Elasticsearch or the source
// has not answered it.
constexpr std::chrono::milliseconds kParkedPause{500};
constexpr std::chrono::milliseconds kFailurePause{10'000};
constexpr std::chrono::milliseconds kSourcePause{2'000};

// A fan-out or a sweep that takes longer is told when it is done.
constexpr std::chrono::seconds kLongJob{5};

bool is_source_away(const Error& error) {
  return error.parts().server == Server::kSource && error.retryable();
}

std::string reading(const RunningJob& job) {
  return "reading a page of the " + std::string(name_of(job.kind())) + " of " + job.index().alias;
}

bool is_whole(JobKind kind) {
  return kind == JobKind::kBackfill || kind == JobKind::kComparison;
}

}  // namespace

JobRunner::JobRunner(const Config& config, const AppliedPipeline& pipeline, const SetAside& set_aside,
                     const HeldIndices& held, ChangeLog& changes, DocumentWriter& writer,
                     Checkpoint& checkpoint, VersionCounter& versions, ProgressBoard& board,
                     OpenClient open_client, SteadyTime write_lifetime_over, std::function<void()> on_read)
    : pipeline_(pipeline),
      set_aside_(set_aside),
      held_(held),
      changes_(changes),
      writer_(writer),
      checkpoint_(checkpoint),
      versions_(versions),
      board_(board),
      open_client_(std::move(open_client)),
      // One fewer than there may be, so that the tail never waits for a request of a job.
      most_requests_(static_cast<std::size_t>(std::max(1, config.elasticsearch.bulks_in_flight - 1))),
      write_lifetime_over_(write_lifetime_over),
      share_(most_requests_, config.replication.chunk_documents) {
  writer_.on_small_change([this](std::chrono::microseconds took) {
    share_.small_change_took(took, writer_.job_requests_in_flight(), std::chrono::steady_clock::now());
  });
  if (std::unique_ptr<PageConnection> connection = changes.page_connection())
    reader_ = std::make_unique<PageReader>(std::move(connection), versions, open_client_, std::move(on_read));
}

void JobRunner::add(Job job) {
  if (has(job.id)) return;
  const AppliedIndex* const index = pipeline_.find(job.index);
  if (index == nullptr) return;  // added by an `apply` that this process has not seen
  jobs_.push_back(make(std::move(job), *index));
}

void JobRunner::add_parked(Job job, SteadyTime now) {
  if (!has(job.id)) not_before_[job.id] = now + kParkedPause;
  add(std::move(job));
}

void JobRunner::forget(IndexId index) {
  for (std::unique_ptr<RunningJob>& running : jobs_) {
    if (running->index().id != index) continue;
    if (ready_ && ready_->lane.job == running->id()) {
      ready_.reset();
      writer_.drop_page();
    }
    if (running.get() == being_read_) forgotten_ = std::move(running);
  }
  jobs_.remove(nullptr);
  jobs_.remove_if([&](const auto& running) { return running->index().id == index; });
}

std::unique_ptr<RunningJob> JobRunner::make(Job job, const AppliedIndex& index) {
  switch (job.kind) {
    case JobKind::kBackfill:
      return std::make_unique<Backfill>(std::move(job), index);
    case JobKind::kComparison:
      return std::make_unique<Comparison>(std::move(job), index);
    case JobKind::kFanOut:
      return std::make_unique<FanOut>(
          std::move(job), index, changes_, [this](JobId id) { return has(id); },
          [this](FanOutList list) { take(std::move(list)); });
    case JobKind::kSweep:
      return std::make_unique<Sweep>(std::move(job), index, writer_, write_lifetime_over_);
  }
  throw Error({"taking up job " + std::to_string(job.id.value), "it is of an unknown kind"});
}

bool JobRunner::has(JobId job) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& running) { return running->id() == job; });
}

void JobRunner::take(FanOutList list) {
  unknown_captures_.insert(list.unknown_captures.begin(), list.unknown_captures.end());
  for (Job& job : list.added) add(std::move(job));
}

bool JobRunner::turn() {
  if (jobs_.empty() && being_read_ == nullptr) return false;
  const bool has_worked = !ready_ && (being_read_ != nullptr ? take_page() : read_page());
  if (!ready_) return has_worked;
  if (!has_room()) {
    writer_.page_waits();
    return has_worked;
  }
  ReadPage ready = *std::exchange(ready_, std::nullopt);
  StepEnd end;
  end.progress = std::move(ready.page.progress);
  writer_.submit(ready.lane, std::move(ready.page.documents), std::move(end));
  return true;
}

bool JobRunner::has_room() {
  const std::size_t on_wire = share_.requests(std::chrono::steady_clock::now());
  writer_.limit_jobs(on_wire);
  // One more may wait for the wire, so that Elasticsearch does not wait for us.
  return writer_.has_room_for_jobs() &&
         writer_.job_requests_in_flight() < std::min(on_wire + 1, most_requests_);
}

bool JobRunner::read_page() {
  for (std::size_t tries = jobs_.size(); tries > 0 && !jobs_.empty(); --tries) {
    const JobId id = jobs_.front()->id();
    const bool has_read = read_page(*jobs_.front());
    if (!jobs_.empty() && jobs_.front()->id() == id) jobs_.splice(jobs_.end(), jobs_, jobs_.begin());
    if (has_read) return true;
  }
  return false;
}

// Further ones join the one that has not begun. Side by side all would write the same documents, and a table
// that is emptied every second would never be caught up with.
bool JobRunner::waits_for_one_of_its_kind(const RunningJob& job) const {
  const bool is_for_all = job.kind() == JobKind::kBackfill || job.kind() == JobKind::kSweep;
  return is_for_all && !job.has_begun() && std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& other) {
           return other->kind() == job.kind() && other->index().id == job.index().id && other->has_begun();
         });
}

bool JobRunner::is_ready(RunningJob& job) {
  const IndexId index = job.index().id;
  if (set_aside_.contains(index) || waits_for_one_of_its_kind(job)) return false;
  const bool waits = held_.contains(index) || writer_.holds_back_page(index);
  if (waits && !job.keeps_rows()) return false;
  if (const auto pause = not_before_.find(job.id()); pause != not_before_.end()) {
    if (std::chrono::steady_clock::now() < pause->second) return false;
    not_before_.erase(pause);
  }
  if (const RateLimit* const limit = limit_of(job);
      limit != nullptr && limit->documents(std::chrono::steady_clock::now()) == 0)
    return false;
  const std::size_t most_open = job.awaits_outcomes() ? 1 : kOpenSteps;
  if (job.all_read() || writer_.acknowledgements().open(Lane{job.id()}) >= most_open) return false;
  return job.is_ready() && !waits;
}

PageLimits JobRunner::limits_of(RunningJob& job) {
  const SteadyTime now = std::chrono::steady_clock::now();
  PageLimits limits{share_.documents(now), writer_.job_bytes(), std::min(kAskedPages, share_.requests(now))};
  if (!job.has_begun()) limits.documents = std::min(limits.documents, kFirstDocuments);
  if (const RateLimit* const limit = limit_of(job)) {
    job.note_limit();
    limits.documents = std::min(limits.documents, limit->documents(now));
    limits.ahead = 1;  // what is read counts when it is used
  }
  return limits;
}

// A fan-out's list is made on a connection of its own, too.
bool JobRunner::read_page(RunningJob& job) {
  try {
    if (!is_ready(job)) return false;
  } catch (const Error& error) {
    if (!is_source_away(error)) throw;
    put_off(job, error);
    return false;
  }
  const PageLimits limits = limits_of(job);
  if (!job.has_begun()) checkpoint_.job_begins(job.id());
  writer_.await_page();
  try {
    if (reader_ == nullptr || job.index().routed) {
      std::optional<JobPage> page = read_here(job, limits);
      if (page) {
        note(job, *std::move(page));
        return true;
      }
      writer_.drop_page();
      return false;
    }
    // Committed before the page's snapshot is taken: what changes behind that joins no job that has begun.
    if (!job.has_begun()) {
      std::unique_ptr<SourceTransaction> transaction = changes_.begin(versions_.epoch());
      job.begin(*transaction);
      checkpoint_.settle(*transaction);
    }
    reader_->start(job, limits);
    being_read_ = &job;
    read_note_.emplace(board_, &ReplicationProgress::job_reads, reading(job));
    return true;
  } catch (const Error& error) {
    writer_.drop_page();
    const bool is_too_slow = dynamic_cast<const ViewTooSlow*>(&error) != nullptr;
    if (!is_too_slow && error.parts().server != Server::kElasticsearch) throw;
    put_off(job, error);
    if (is_too_slow) take_up_again(job.id());
    return false;
  }
}

// None: Elasticsearch has not answered yet, and the tail does not wait for that.
std::optional<JobPage> JobRunner::read_here(RunningJob& job, const PageLimits& limits) {
  const SteadyTime begun = std::chrono::steady_clock::now();
  const LookAhead ask{[this] { return changes_.read(); }, open_client_, false};
  if (!job.look_ahead(ask, limits)) return std::nullopt;
  std::unique_ptr<SourceTransaction> transaction = changes_.begin(versions_.epoch());
  StepDocuments documents(versions_.epoch(), versions_.number(*transaction),
                          static_cast<std::size_t>(limits.bytes));
  job.begin(*transaction);
  JobProgress progress = [&] {
    const ReadingNote note(board_, &ReplicationProgress::loop_reads, reading(job));
    return job.read_page(*transaction, documents, limits);
  }();
  checkpoint_.settle(*transaction);  // a page adds no jobs
  return JobPage{
      std::move(documents), std::move(progress), true,
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun)};
}

bool JobRunner::take_page() {
  std::optional<JobPage> page;
  try {
    page = reader_->take();
    if (!page) return false;
  } catch (const ViewError&) {
    writer_.drop_page();
    if (end_reading() != nullptr) throw;
    return true;
  } catch (const Error& error) {
    writer_.drop_page();
    const RunningJob* const job = end_reading();
    const bool source_is_away = is_source_away(error);
    if (!source_is_away && error.parts().server != Server::kElasticsearch) throw;
    if (job == nullptr) return true;
    put_off(*job, error);
    if (source_is_away) take_up_again(job->id());
    return true;
  }
  RunningJob* const job = end_reading();
  if (!page->is_durable) checkpoint_.make_durable();
  if (job == nullptr) {
    writer_.drop_page();
  } else {
    note(*job, *std::move(page));
  }
  return true;
}

RunningJob* JobRunner::end_reading() {
  read_note_.reset();
  RunningJob* const job = std::exchange(being_read_, nullptr);
  return std::exchange(forgotten_, nullptr) == nullptr ? job : nullptr;
}

// What it had in hand of its page is lost.
void JobRunner::take_up_again(JobId id) {
  jobs_.remove_if([&](const auto& running) { return running->id() == id; });
  for (Job& job : changes_.jobs().readable) {
    if (job.id == id) add(std::move(job));
  }
}

void JobRunner::note(RunningJob& job, JobPage page) {
  job.note(page.progress);
  troubles_.erase(job.id());
  share_.page_took(page.progress.done_documents, page.took);
  if (RateLimit* const limit = limit_of(job))
    limit->took(page.progress.done_documents, std::chrono::steady_clock::now() - page.took);
  ready_.emplace(ReadPage{Lane{job.id()}, std::move(page)});
}

// What Elasticsearch does not answer about one index (it is closed, say) stops the jobs of no other, and what
// the source does not answer beside the tail does not stop the tail.
void JobRunner::put_off(const RunningJob& job, const Error& error) {
  const LogField field("index", job.index().alias);
  spdlog::warn("job {} of index {} is tried again: {}", job.id().value, job.index().alias, error.what());
  troubles_[job.id()] = error.what();
  not_before_[job.id()] = std::chrono::steady_clock::now() +
                          (error.parts().server == Server::kSource ? kSourcePause : kFailurePause);
}

bool JobRunner::all_done() const {
  return std::all_of(jobs_.begin(), jobs_.end(),
                     [&](const auto& running) { return set_aside_.contains(running->index().id); });
}

void JobRunner::limit_rates(const std::map<IndexId, std::int64_t>& rates, SteadyTime now) {
  std::erase_if(limits_, [&](const auto& limit) {
    const auto rate = rates.find(limit.first);
    return rate == rates.end() || rate->second != limit.second.per_second();
  });
  for (const auto& [index, per_second] : rates) limits_.try_emplace(index, per_second, now);
}

// What carries changes is never limited.
RateLimit* JobRunner::limit_of(const RunningJob& job) {
  const auto limit = limits_.find(job.index().id);
  return limit == limits_.end() || !is_whole(job.kind()) ? nullptr : &limit->second;
}

std::vector<JobRunner::Measured> JobRunner::saved(const Acknowledged& acknowledged) {
  std::vector<Measured> measured;
  for (const JobProgress& progress : acknowledged.jobs) {
    if (!progress.finished) continue;
    const auto job = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&](const auto& running) { return running->id() == progress.job; });
    not_before_.erase(progress.job);
    troubles_.erase(progress.job);
    if (job == jobs_.end()) continue;
    const SteadyTime now = std::chrono::steady_clock::now();
    tell_end(**job, now);
    const std::optional<Pace> pace = (*job)->pace(now);
    if (is_whole(progress.kind) && pace) measured.push_back({(*job)->index().id, progress.kind, *pace});
    jobs_.erase(job);
  }
  return measured;
}

void JobRunner::tell_end(const RunningJob& job, SteadyTime now) {
  if (!is_whole(job.kind()) && job.age(now) < kLongJob) return;
  const LogField field("index", job.index().alias);
  spdlog::info("{}", job.text_of_end(now));
}

std::string JobRunner::trouble(IndexId index) const {
  for (const auto& running : jobs_) {
    const auto trouble = troubles_.find(running->id());
    if (running->index().id == index && trouble != troubles_.end()) return trouble->second;
  }
  return "";
}

std::vector<std::pair<IndexId, JobStatus>> JobRunner::progress() const {
  std::vector<std::pair<IndexId, JobStatus>> all;
  for (const auto& running : jobs_) {
    JobStatus& job = all.emplace_back(running->index().id, running->status()).second;
    if (const auto trouble = troubles_.find(job.id); trouble != troubles_.end())
      job.trouble = trouble->second;
    const IndexId index = running->index().id;
    job.waits = !job.trouble.empty() || set_aside_.contains(index) || held_.contains(index);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.id < b.second.id; });
  return all;
}

}  // namespace lockstep
