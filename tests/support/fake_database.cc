#include "tests/support/fake_database.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "replicator/error.h"
#include "replicator/scheduler.h"

namespace lockstep::fake {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

bool IdOrder::operator()(const std::string& left, const std::string& right) const {
  const auto key = [](const std::string& id) {
    return std::make_tuple(!is_number(id), is_number(id) ? std::stoll(id) : 0, std::string_view(id));
  };
  return key(left) < key(right);
}

std::chrono::system_clock::time_point wall_now() {
  if (Scheduler::current() == nullptr) return std::chrono::system_clock::now();
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(steady_now().time_since_epoch()));
}

std::chrono::seconds StoredReindex::kept_for() const {
  if (!kept_until) return {};
  return std::max(std::chrono::ceil<std::chrono::seconds>(*kept_until - steady_now()),
                  std::chrono::seconds(0));
}

IndexId State::view_of(IndexId index) const {
  const auto found = same_view.find(index);
  return found == same_view.end() ? index : found->second;
}

const View& State::view(IndexId index) const {
  static const View kEmpty;
  const auto found = views.find(view_of(index));
  return found == views.end() ? kEmpty : found->second;
}

Position position_at(std::size_t rows) {
  return Position{std::to_string(rows)};
}

std::size_t rows_of(const Position& position) {
  return std::stoull(position.text);
}

bool has_begun(const StoredJob& stored) {
  return !std::holds_alternative<NotBegun>(stored.job.position);
}

Job insert(State& state, StoredJob stored) {
  stored.job.id = state.next_job;
  ++state.next_job.value;
  return state.jobs.emplace(stored.job.id, std::move(stored)).first->second.job;
}

AppliedPipeline applied(const State& state) {
  AppliedPipeline pipeline = state.pipeline;
  for (AppliedIndex& index : pipeline.indices) {
    const auto reason = state.set_aside.find(index.id);
    if (reason != state.set_aside.end()) index.set_aside = reason->second;
    for (const auto& [id, stored] : state.reindexes) {
      if (stored.reindex.beside == index.id) index.beside = stored.reindex.alias;
    }
  }
  return pipeline;
}

void note_revision(State& state) {
  state.pipeline.revision = std::to_string(std::stoll(state.pipeline.revision) + 1);
}

void forget_index(State& state, IndexId index) {
  std::erase_if(state.pipeline.indices, [&](const AppliedIndex& each) { return each.id == index; });
  std::erase_if(state.jobs, [&](const auto& job) { return job.second.job.index == index; });
  std::erase_if(state.unreadable_jobs, [&](const auto& job) { return job.index == index; });
  state.due.erase(index);
  state.set_aside.erase(index);
  std::erase_if(state.routes, [&](const auto& route) { return std::get<IndexId>(route.first) == index; });
  std::erase_if(state.dead_letters,
                [&](const auto& letter) { return std::get<IndexId>(letter.first) == index; });
  std::erase_if(state.paces, [&](const auto& pace) { return pace.first.first == index; });
  std::erase_if(state.reindexes, [&](const auto& each) { return each.second.reindex.live == index; });
}

std::vector<DueList> due_lists(const State& state) {
  const SteadyTime now = steady_now();
  std::vector<DueList> lists;
  for (const auto& [index, due] : state.due) {
    DueList list{.index = index};
    SteadyTime oldest = now;
    const auto note = [&](DueNumber number, DueNumber since, SteadyTime at, const std::string& reason) {
      if (list.newest == DueNumber{} || since < list.oldest) list.oldest = since;
      list.newest = std::max(list.newest, number);
      if (list.reason.empty() || at < oldest) list.reason = reason;
      oldest = std::min(oldest, at);
    };
    for (const DueChanges& each : due.changes) {
      note(each.number, each.number, each.since, each.reason);
      list.changes += each.keeps_rows ? 1 : static_cast<std::int64_t>(each.changes.size());
      list.keeps_rows = list.keeps_rows || each.keeps_rows;
    }
    for (const auto& [number, stored] : due.pages) {
      if (stored.since > now) continue;
      note(number, stored.page.since, stored.since, stored.reason);
      list.documents += std::ssize(stored.page.ids);
    }
    if (list.newest == DueNumber{}) continue;
    list.oldest_age = std::chrono::floor<std::chrono::milliseconds>(now - oldest);
    lists.push_back(std::move(list));
  }
  return lists;
}

std::optional<Job> add_whole_index_job(State& state, IndexId index, JobKind kind, const std::string& reason) {
  for (const auto& [id, stored] : state.jobs) {
    if (stored.job.index == index && stored.job.kind == kind && !has_begun(stored)) return std::nullopt;
  }
  StoredJob stored;
  stored.job.index = index;
  stored.job.kind = kind;
  stored.job.reason = reason;
  return insert(state, std::move(stored));
}

std::size_t StoredDue::documents() const {
  std::size_t sum = 0;
  for (const auto& [number, stored] : pages) sum += stored.page.ids.size();
  return sum;
}

void add_pages(State& state, IndexId index, const std::vector<std::string>& ids, const StoredPage& like) {
  StoredPage page = like;
  std::set<std::string> listed;
  const auto end_page = [&] {
    if (page.page.ids.empty()) return;
    page.page.number = {++state.last_due};
    if (like.page.since == kSinceItself) page.page.since = page.page.number;
    state.due[index].pages.emplace(page.page.number, page);
    page.page.ids.clear();
  };
  for (const std::string& id : ids) {
    if (!listed.insert(id).second) continue;
    page.page.ids.push_back({id});
    if (page.page.ids.size() == static_cast<std::size_t>(kDuePageDocuments)) end_page();
  }
  end_page();
}

// --- Change ---

Change& Change::put(IndexId index, const std::string& id, const std::string& json,
                    const std::string& routing) {
  state_.views[index][id] = {json, routing};
  return *this;
}

Change& Change::remove(IndexId index, const std::string& id) {
  state_.views[index].erase(id);
  return *this;
}

Change& Change::captured(CaptureId capture, Values values) {
  if (state_.captures) state_.outbox.push_back({capture, std::move(values), false, state_.transactions});
  return *this;
}

Change& Change::truncated(CaptureId capture) {
  if (state_.captures) state_.outbox.push_back({capture, {}, true, state_.transactions});
  return *this;
}

// --- Database ---

void Database::commit(const std::function<void(Change&)>& make) {
  const std::lock_guard lock(mutex_);
  State& state = change();
  ++state.transactions;
  Change writing(state);
  make(writing);
  flushed_ = false;
  if (durable_) flush();
}

void Database::flush() {
  flushed_ = true;
  if (durable_state_) durable_state_ = state_;
}

void Database::remember_durable() {
  const std::lock_guard lock(mutex_);
  durable_state_ = state_;
}

void Database::crash() {
  const std::lock_guard lock(mutex_);
  put_back(*durable_state_);
}

void Database::restore(const std::shared_ptr<const State>& state) {
  const std::lock_guard lock(mutex_);
  put_back(*state);
}

void Database::put_back(const State& state) {
  state_ = std::make_shared<State>(state);
  leader_ = nullptr;
  ++start_;
  flush();
}

bool Database::write(const std::function<bool(State&)>& make) {
  step(Step::kCommit);
  require_present();
  {
    const std::lock_guard lock(mutex_);
    if (!make(change())) return false;
    flush();
  }
  step(Step::kCommitted);
  return true;
}

State& Database::change() {
  if (state_.use_count() > 1) state_ = std::make_shared<State>(*state_);
  return *state_;
}

std::shared_ptr<const State> Database::snapshot() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

State Database::state() const {
  const std::lock_guard lock(mutex_);
  return *state_;
}

void Database::resolve_with(IndexId index, CaptureId capture, Resolver resolve) {
  const std::lock_guard lock(mutex_);
  resolvers_[{index, capture}] = std::move(resolve);
}

void Database::at_step(std::function<void(Step)> hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

AppliedPipeline Database::pipeline() const {
  return applied(*snapshot());
}

void Database::apply(AppliedPipeline pipeline) {
  const std::lock_guard lock(mutex_);
  State& state = change();
  state.pipeline = std::move(pipeline);
  for (const AppliedIndex& index : state.pipeline.indices)
    state.last_index = std::max(state.last_index, index.id);
}

JobId Database::add_job(IndexId index, JobKind kind) {
  const std::lock_guard lock(mutex_);
  StoredJob stored;
  stored.job.index = index;
  stored.job.kind = kind;
  stored.job.reason = "a test";
  return insert(change(), std::move(stored)).id;
}

void Database::add_due(IndexId index, const Values& ids) {
  const std::lock_guard lock(mutex_);
  StoredPage like;
  like.page.since = kSinceItself;
  like.since = steady_now();
  like.reason = "a test";
  add_pages(change(), index, ids, like);
}

void Database::set_unreadable_jobs(std::vector<UnreadableJob> jobs) {
  const std::lock_guard lock(mutex_);
  change().unreadable_jobs = std::move(jobs);
}

SourceIdentity Database::identity() const {
  const std::lock_guard lock(mutex_);
  return identity_;
}

void Database::set_identity(const SourceIdentity& identity) {
  const std::lock_guard lock(mutex_);
  identity_ = identity;
}

void Database::set_durable(bool durable) {
  const std::lock_guard lock(mutex_);
  durable_ = durable;
}

bool Database::is_durable() const {
  const std::lock_guard lock(mutex_);
  return flushed_;
}

void Database::set_position(std::size_t rows) {
  const std::lock_guard lock(mutex_);
  change().position = rows;
}

void Database::set_readable(IndexId index, bool readable) {
  const std::lock_guard lock(mutex_);
  if (readable) {
    unreadable_.erase(index);
  } else {
    unreadable_.insert(index);
  }
}

void Database::give_up() {
  const std::lock_guard lock(mutex_);
  change().given_up = true;
  change().captures = false;
}

bool Database::captures() const {
  const std::lock_guard lock(mutex_);
  return state_->captures;
}

void Database::begin_uncaptured() {
  const std::lock_guard lock(mutex_);
  ++uncaptured_;
}

void Database::end_uncaptured() {
  const std::lock_guard lock(mutex_);
  --uncaptured_;
}

void Database::set_away(bool away) {
  const std::lock_guard lock(mutex_);
  away_ = away;
}

void Database::cut(const void* source) {
  const std::lock_guard lock(mutex_);
  if (leader_ == source) leader_ = nullptr;
}

void Database::set_led_elsewhere(bool led) {
  const std::lock_guard lock(mutex_);
  led_elsewhere_ = led;
}

bool Database::is_led() const {
  require_present();
  const std::lock_guard lock(mutex_);
  return led_elsewhere_ || leader_ != nullptr;
}

int Database::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

std::vector<PublishedStatus> Database::published() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

void Database::set_lock_waits(std::vector<LockWait> waits) {
  const std::lock_guard lock(mutex_);
  lock_waits_ = std::move(waits);
}

void Database::step(Step step) const {
  std::function<void(Step)> hook;
  {
    const std::lock_guard lock(mutex_);
    hook = hook_;
  }
  if (hook) hook(step);
}

void Database::require_present() const {
  const std::lock_guard lock(mutex_);
  if (away_) throw Error({"asking the source", "it is away", "", Retry::kLater, Server::kSource});
}

void Database::require_connected(int start) const {
  require_present();
  const std::lock_guard lock(mutex_);
  if (start_ != start)
    throw Error({"asking the source", "the connection is lost", "", Retry::kLater, Server::kSource});
}

void Database::require_readable(const AppliedIndex& index) const {
  const std::lock_guard lock(mutex_);
  if (unreadable_.contains(state_->view_of(index.id)))
    throw ViewError({"reading " + index.view, "it fails"}, index.id);
}

std::int64_t Database::renderings() const {
  const std::lock_guard lock(mutex_);
  return renderings_;
}

void Database::count_renderings(std::int64_t documents) {
  const std::lock_guard lock(mutex_);
  renderings_ += documents;
}

std::vector<std::string> Database::resolve(const State& state, IndexId index,
                                           const std::vector<CapturedChange>& changes) const {
  std::vector<std::string> ids;
  const auto add = [&](const std::string& id) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  };
  for (const CapturedChange& change : changes) {
    if (change.everything) throw std::logic_error("a truncated table leads to no list of documents");
    Resolver resolver;
    {
      const std::lock_guard lock(mutex_);
      const auto found = resolvers_.find({state.view_of(index), change.capture});
      if (found != resolvers_.end()) resolver = found->second;
    }
    for (const std::string& value : change.values) {
      if (!resolver) {
        add(value);
        continue;
      }
      for (const std::string& id : resolver(state, value)) add(id);
    }
  }
  return ids;
}

}  // namespace lockstep::fake
