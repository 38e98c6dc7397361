#include "tests/support/fake_source.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <utility>

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
  explicit FakePageConnection(Database& database) : database_(database) {}

  std::unique_ptr<SourceTransaction> begin(Epoch epoch) override {
    if (is_cancelled_) throw Error({"reading beside the leader's connection", "it was cancelled"});
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
  }
  reload();
}

FakeSource::~FakeSource() {
  const std::lock_guard lock(database_.mutex_);
  if (database_.leader_ == this) database_.leader_ = nullptr;
}

template <typename Question>
auto FakeSource::ask(const Question& question) const {
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  return question(std::as_const(database_.state_));
}

void FakeSource::reload() {
  database_.require_present();
  pipeline_ = database_.pipeline();
}

std::string FakeSource::revision() {
  database_.require_present();
  return database_.pipeline().revision;
}

// --- Lead ---

bool FakeSource::try_lead() {
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  if (database_.led_elsewhere_) return false;
  if (database_.leader_ == nullptr) database_.leader_ = this;
  return database_.leader_ == this;
}

bool FakeSource::is_led() {
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  return database_.led_elsewhere_ || database_.leader_ != nullptr;
}

SourceIdentity FakeSource::identity() {
  database_.require_present();
  return database_.identity();
}

Epoch FakeSource::epoch() {
  return ask([](const State& state) { return state.epoch; });
}

KnownPartners FakeSource::known_partners() {
  return ask([](const State& state) { return state.partners; });
}

Epoch FakeSource::raise_epoch(Epoch at_least, const KnownPartners& partners) {
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  database_.state_.partners = partners;
  database_.state_.partners.quiet = false;
  Epoch& epoch = database_.state_.epoch;
  epoch.value = std::max(epoch.value, at_least.value) + 1;
  return epoch;
}

void FakeSource::note_quiet(Epoch epoch) {
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  if (database_.state_.epoch == epoch) database_.state_.partners.quiet = true;
}

// --- ChangeLog ---

std::unique_ptr<SourceTransaction> FakeSource::begin(Epoch epoch) {
  return std::make_unique<FakeTransaction>(database_, connection_, epoch);
}

std::unique_ptr<SourceTransaction> FakeSource::begin_repair() {
  return std::make_unique<FakeTransaction>(database_, connection_, std::nullopt);
}

ChangeLog::Canceller FakeSource::canceller() {
  if (!database_.reads_pages_beside()) return {};
  return [] {};
}

std::unique_ptr<PageConnection> FakeSource::page_connection() {
  if (!database_.reads_pages_beside()) return nullptr;
  return std::make_unique<FakePageConnection>(database_);
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
  const auto end = std::chrono::steady_clock::now() + at_most;
  do {
    std::this_thread::sleep_for(std::min(check_every, at_most));
    if (may_have_changed(position)) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

bool FakeSource::is_awaited() {
  database_.require_present();
  return false;
}

UnfinishedJobs FakeSource::jobs() {
  return ask([](const State& state) {
    UnfinishedJobs jobs;
    for (const auto& [id, stored] : state.jobs) jobs.readable.push_back(stored.job);
    jobs.unreadable = state.unreadable_jobs;
    return jobs;
  });
}

std::optional<FanOutList> FakeSource::expand(const AppliedIndex& index, const Job& fan_out) {
  database_.require_present();
  database_.step(Step::kExpand);
  if (connection_.open > 0) throw std::logic_error("a transaction is open on this connection");
  require_side_connection(database_);
  const std::optional<JobId> expanded = std::exchange(connection_.expanding, std::nullopt);
  if (expanded) make_list(*expanded);
  const std::optional<std::int64_t> total = ask([&](const State& state) {
    const auto stored = state.jobs.find(fan_out.id);
    return stored == state.jobs.end() ? std::optional<std::int64_t>(0) : stored->second.job.total;
  });
  if (total) return FanOutList{*total};
  database_.require_readable(index);
  connection_.expanding = fan_out.id;
  return std::nullopt;
}

void FakeSource::make_list(JobId fan_out) {
  const State seen = database_.state();
  const auto found = seen.jobs.find(fan_out);
  if (found == seen.jobs.end() || found->second.job.total) return;
  const std::vector<std::string> ids =
      database_.resolve(seen, found->second.job.index, found->second.changes);
  const std::lock_guard lock(database_.mutex_);
  const auto stored = database_.state_.jobs.find(fan_out);
  if (stored == database_.state_.jobs.end()) return;
  stored->second.documents = numbered(ids);
  stored->second.job.total = static_cast<std::int64_t>(ids.size());
  stored->second.job.keeps_rows = false;
}

// --- DeadLetterBox ---

std::chrono::system_clock::time_point FakeSource::now() {
  return std::chrono::system_clock::now();
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
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  return static_cast<std::int64_t>(std::erase_if(
      database_.state_.dead_letters, [&](const auto& letter) { return fits(letter.second, filter); }));
}

// --- OutboxCare ---

void FakeSource::prune() {
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  State& state = database_.state_;
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
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  State& state = database_.state_;
  state.captures = true;
  if (database_.uncaptured_ > 0) return false;
  state.given_up = false;
  state.position = state.outbox.size();
  for (const AppliedIndex& index : database_.pipeline_.indices) {
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
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  return database_.led_elsewhere_ || database_.leader_ != nullptr;
}

std::vector<LockWait> FakeStatusWriter::lock_waits() {
  database_.require_present();
  const std::lock_guard lock(database_.mutex_);
  return database_.lock_waits_;
}

}  // namespace lockstep::fake
