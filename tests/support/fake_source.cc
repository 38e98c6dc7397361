#include "tests/support/fake_source.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <ctime>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "replicator/pause.h"
#include "replicator/source/outbox/full_outbox.h"

namespace lockstep::fake {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool fits(const StoredLetter& stored, const DeadLetterFilter& filter) {
  const auto has = [](const auto& values, const auto& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  const DeadLetter& letter = stored.letter;
  const std::string error = lower(filter.error);
  return has(filter.indices, letter.index) && (filter.ids.empty() || has(filter.ids, letter.id)) &&
         (lower(letter.error_type) == error || lower(letter.reason).find(error) != std::string::npos) &&
         (!filter.since || stored.last_at >= *filter.since) &&
         (!filter.until || stored.last_at <= *filter.until);
}

std::string utc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

void require_side_connection(const Database& database) {
  if (!database.gives_side_connections())
    throw Error({"connecting", "too many connections", "", Retry::kLater, Server::kSource});
}

class FakePageConnection final : public PageConnection {
 public:
  FakePageConnection(Database& database, int start) : database_(database) { connection_.start = start; }

  std::unique_ptr<SourceTransaction> begin(Epoch epoch) override {
    if (is_cancelled_) throw Error({"reading alongside the leader's connection", "it was cancelled"});
    require_side_connection(database_);
    return std::make_unique<FakeTransaction>(database_, connection_, epoch);
  }
  void cancel() override { is_cancelled_ = true; }

 private:
  Database& database_;
  Connection connection_;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace

FakeSource::FakeSource(Database& database) : database_(database) {
  database.require_present();
  {
    const std::lock_guard lock(database.mutex_);
    ++database.connections_;
    connection_.start = database.start_;
  }
  reload();
}

FakeSource::~FakeSource() {
  const std::lock_guard lock(database_.mutex_);
  if (database_.leader_ == this) database_.leader_ = nullptr;
}

template <typename Question>
auto FakeSource::ask(const Question& question) const {
  require_connected();
  const std::lock_guard lock(database_.mutex_);
  return question(std::as_const(*database_.state_));
}

void FakeSource::reload() {
  require_connected();
  pipeline_ = database_.pipeline();
}

std::string FakeSource::revision() {
  require_connected();
  return database_.pipeline().revision;
}

// --- Lead ---

bool FakeSource::try_lead() {
  require_connected();
  const std::lock_guard lock(database_.mutex_);
  if (database_.led_elsewhere_) return false;
  if (database_.leader_ == nullptr) database_.leader_ = this;
  return database_.leader_ == this;
}

bool FakeSource::is_led() {
  require_connected();
  return database_.is_led();
}

SourceIdentity FakeSource::identity() {
  require_connected();
  return database_.identity();
}

Epoch FakeSource::epoch() {
  return ask([](const State& state) { return state.epoch; });
}

KnownPartners FakeSource::known_partners() {
  return ask([](const State& state) { return state.partners; });
}

Epoch FakeSource::raise_epoch(Epoch at_least, const KnownPartners& partners) {
  require_connected();
  const std::lock_guard lock(database_.mutex_);
  State& state = database_.change();
  state.partners = partners;
  state.partners.quiet = state.partners.landed = false;
  Epoch& epoch = state.epoch;
  epoch.value = std::max(epoch.value, at_least.value) + 1;
  database_.flush();
  return epoch;
}

void FakeSource::note_quiet(Epoch epoch, bool landed) {
  require_connected();
  const std::lock_guard lock(database_.mutex_);
  if (database_.state_->epoch != epoch) return;
  database_.change().partners.quiet = true;
  database_.change().partners.landed = landed;
}

// --- ChangeLog ---

std::unique_ptr<SourceTransaction> FakeSource::begin(Epoch epoch) {
  return std::make_unique<FakeTransaction>(database_, connection_, epoch);
}

std::unique_ptr<SourceTransaction> FakeSource::begin_repair() {
  return std::make_unique<FakeTransaction>(database_, connection_, std::nullopt);
}

std::unique_ptr<PageConnection> FakeSource::page_connection() {
  if (!database_.reads_pages_beside()) return nullptr;
  return std::make_unique<FakePageConnection>(database_, connection_.start);
}

std::unique_ptr<SourceSnapshot> FakeSource::read() {
  return std::make_unique<FakeTransaction>(database_, connection_, std::nullopt);
}

Position FakeSource::checkpoint() {
  return ask([](const State& state) { return position_at(state.position); });
}

bool FakeSource::has_passed(const Position& position) {
  return ask([&](const State& state) { return state.position >= rows_of(position); });
}

bool FakeSource::may_have_changed(const Position& position) {
  return ask([&](const State& state) { return state.outbox.size() > rows_of(position); });
}

bool FakeSource::await_change(const Position& position, std::chrono::milliseconds check_every,
                              std::chrono::milliseconds at_most) {
  const auto end = steady_now() + at_most;
  do {
    pause(std::min(check_every, at_most), {});
    if (may_have_changed(position)) return true;
  } while (steady_now() < end);
  return true;  // what jobs and definitions alone have become, it does not see
}

std::chrono::milliseconds FakeSource::save_within() {
  require_connected();
  return std::chrono::milliseconds(100);
}

UnfinishedJobs FakeSource::jobs() {
  return ask([](const State& state) {
    UnfinishedJobs jobs;
    for (const auto& [id, stored] : state.jobs) jobs.readable.push_back(stored.job);
    jobs.unreadable = state.unreadable_jobs;
    return jobs;
  });
}

std::vector<DueList> FakeSource::due() {
  return ask(due_lists);
}

std::optional<FoundDue> FakeSource::find_due(const AppliedIndex& index) {
  require_connected();
  database_.step(Step::kFind);
  if (connection_.open > 0) throw std::logic_error("a transaction is open on this connection");
  require_side_connection(database_);
  database_.require_readable(index);
  if (connection_.finding.insert(index.id).second) return std::nullopt;
  connection_.finding.erase(index.id);
  return FoundDue{make_pages(index.id)};
}

// Returns the documents that are on no page which may be tried now and is no younger than `up_to`.
std::vector<std::string> join_pages(StoredDue& due, const std::vector<std::string>& ids, const DuePage& like,
                                    DueNumber up_to) {
  const std::set<std::string> wanted(ids.begin(), ids.end());
  std::set<std::string> joined;
  for (auto& [number, stored] : due.pages) {
    DuePage& page = stored.page;
    if (number > up_to || stored.not_before > SteadyTime{} || !page.as_of) continue;
    bool joins = false;
    for (const DocumentId& id : page.ids) {
      if (!wanted.contains(id.text)) continue;
      joined.insert(id.text);
      joins = true;
    }
    if (!joins) continue;
    page.as_of = like.as_of ? std::max(page.as_of, like.as_of) : std::nullopt;
    page.since = std::min(page.since, like.since);
  }
  std::vector<std::string> others;
  std::ranges::copy_if(ids, std::back_inserter(others), [&](const auto& id) { return !joined.contains(id); });
  return others;
}

std::int64_t FakeSource::make_pages(IndexId index) {
  const std::shared_ptr<const State> snapshot = database_.snapshot();
  const State& seen = *snapshot;
  const auto found = seen.due.find(index);
  if (found == seen.due.end()) return 0;
  std::int64_t documents = 0;
  const std::vector<DueChanges>& entries = found->second.changes;
  for (auto first = entries.begin(); first != entries.end();) {
    auto end = std::next(first);  // a large transaction is found by itself
    if (!first->keeps_rows)
      end = std::find_if(first, entries.end(), [](const auto& each) { return each.keeps_rows; });
    documents += make_pages(seen, index, {first, end});
    first = end;
  }
  return documents;
}

std::int64_t FakeSource::make_pages(const State& seen, IndexId index,
                                    const std::vector<DueChanges>& entries) {
  std::vector<CapturedChange> changes;
  StoredPage like;
  like.page.since = entries.front().number;
  like.page.as_of = entries.front().as_of;
  like.reason = entries.front().reason;
  like.since = entries.front().since;
  for (const DueChanges& each : entries) {
    changes.insert(changes.end(), each.changes.begin(), each.changes.end());
    like.page.as_of = each.as_of && like.page.as_of ? std::max(like.page.as_of, each.as_of) : std::nullopt;
  }
  const std::vector<std::string> ids = database_.resolve(seen, index, changes);
  const std::lock_guard lock(database_.mutex_);
  State& state = database_.change();
  StoredDue& due = state.due[index];
  std::erase_if(due.changes, [&](const DueChanges& each) {
    return each.number >= entries.front().number && each.number <= entries.back().number;
  });
  const DueNumber up_to = seen.due.at(index).changes.back().number;
  add_pages(state, index, join_pages(due, ids, like.page, up_to), like);
  if (due.empty()) state.due.erase(index);
  return static_cast<std::int64_t>(ids.size());
}

// --- DeadLetterBox ---

std::chrono::system_clock::time_point FakeSource::now() {
  return wall_now();
}

std::int64_t FakeSource::count(const DeadLetterFilter& filter) {
  return ask([&](const State& state) {
    return std::count_if(state.dead_letters.begin(), state.dead_letters.end(),
                         [&](const auto& letter) { return fits(letter.second, filter); });
  });
}

std::vector<StoredDeadLetter> FakeSource::find(const DeadLetterFilter& filter,
                                               const std::optional<DeadLetter>& after, std::int64_t limit) {
  return ask([&](const State& state) {
    std::vector<StoredDeadLetter> found;
    for (const auto& [key, stored] : state.dead_letters) {
      if (after && key <= RoutedId{after->index, after->id.text, after->routing}) continue;
      if (fits(stored, filter) && static_cast<std::int64_t>(found.size()) < limit)
        found.push_back({stored.letter, utc(stored.first_at), utc(stored.last_at), stored.tries});
    }
    return found;
  });
}

std::vector<DeadLetter> FakeSource::find_due(const std::vector<IndexId>& indices, std::int64_t limit) {
  DeadLetterFilter of_indices;
  of_indices.indices = indices;
  std::vector<DeadLetter> due;
  for (const StoredDeadLetter& stored : find(of_indices, std::nullopt, limit)) {
    const int status = stored.letter.status;
    if (status == 0 || status == 408 || status == 429 || status >= 500) due.push_back(stored.letter);
  }
  return due;
}

std::int64_t FakeSource::discard(const DeadLetterFilter& filter) {
  require_connected();
  const std::lock_guard lock(database_.mutex_);
  return static_cast<std::int64_t>(std::erase_if(
      database_.change().dead_letters, [&](const auto& letter) { return fits(letter.second, filter); }));
}

// --- OutboxMaintenance ---

void FakeSource::prune() {
  require_connected();
  const std::lock_guard lock(database_.mutex_);
  State& state = database_.change();
  state.pruned = std::max(state.pruned, state.position);
}

std::int64_t FakeSource::size() {
  return ask(
      [](const State& state) { return static_cast<std::int64_t>(state.outbox.size() - state.pruned); });
}

bool FakeSource::has_given_up() {
  return ask([](const State& state) { return state.given_up; });
}

bool FakeSource::resume() {
  require_connected();
  const std::lock_guard lock(database_.mutex_);
  State& state = database_.change();
  state.captures = true;
  if (database_.uncaptured_ > 0) return false;
  state.given_up = false;
  state.position = state.outbox.size();
  for (const AppliedIndex& index : state.pipeline.indices) {
    for (const JobKind kind : {JobKind::kComparison, JobKind::kSweep})
      add_whole_index_job(state, index.id, kind, std::string(kOutboxWasFull));
  }
  return true;
}

// --- StatusWriter ---

FakeStatusWriter::FakeStatusWriter(Database& database) : database_(database) {
  database.require_present();
  const std::lock_guard lock(database.mutex_);
  ++database.connections_;
}

void FakeStatusWriter::publish(const PublishedStatus& status) {
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  database_.published_.push_back(status);
}

bool FakeStatusWriter::is_led() {
  return database_.is_led();
}

std::vector<LockWait> FakeStatusWriter::lock_waits() {
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  return database_.lock_waits_;
}

}  // namespace lockstep::fake
