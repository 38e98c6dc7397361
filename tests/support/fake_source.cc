#include "tests/support/fake_source.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include "replicator/error.h"

namespace lockstep::fake {
namespace {

Position position_at(std::size_t rows) {
  return Position{std::to_string(rows)};
}

std::size_t rows_of(const Position& position) {
  return std::stoull(position.text);
}

bool fits(const DeadLetter& letter, const DeadLetterFilter& filter) {
  const auto has = [](const auto& values, const auto& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  return has(filter.indices, letter.index) && (filter.ids.empty() || has(filter.ids, letter.id)) &&
         (letter.error_type == filter.error || letter.reason.find(filter.error) != std::string::npos);
}

}  // namespace

// --- Change ---

Change& Change::put(int index, const std::string& id, const std::string& json, const std::string& routing) {
  state_.views[index][id] = {json, routing};
  return *this;
}

Change& Change::remove(int index, const std::string& id) {
  state_.views[index].erase(id);
  return *this;
}

Change& Change::captured(int capture, Values values) {
  state_.outbox.push_back({capture, std::move(values), false});
  return *this;
}

Change& Change::truncated(int capture) {
  state_.outbox.push_back({capture, {}, true});
  return *this;
}

// --- Database ---

void Database::commit(const std::function<void(Change&)>& change) {
  const std::lock_guard lock(mutex_);
  Change writing(state_);
  change(writing);
}

State Database::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Database::resolve_with(const std::string& resolver, Resolver resolve) {
  const std::lock_guard lock(mutex_);
  resolvers_[resolver] = std::move(resolve);
}

void Database::at_step(std::function<void(Step)> hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void Database::step(Step step) const {
  std::function<void(Step)> hook;
  {
    const std::lock_guard lock(mutex_);
    hook = hook_;
  }
  if (hook) hook(step);
}

AppliedPipeline Database::pipeline() const {
  const std::lock_guard lock(mutex_);
  return pipeline_;
}

void Database::apply(AppliedPipeline pipeline) {
  const std::lock_guard lock(mutex_);
  pipeline_ = std::move(pipeline);
}

std::int64_t Database::add_job(int index, JobKind kind, const Values& ids) {
  const std::lock_guard lock(mutex_);
  StoredJob stored;
  stored.job.id = next_job_++;
  stored.job.index = index;
  stored.job.kind = kind;
  stored.job.reason = "a test";
  for (const std::string& id : ids)
    stored.documents.emplace(static_cast<std::int64_t>(stored.documents.size()) + 1, id);
  const std::int64_t id = stored.job.id;
  state_.jobs.emplace(id, std::move(stored));
  return id;
}

void Database::set_position(std::size_t rows) {
  const std::lock_guard lock(mutex_);
  state_.position = rows;
}

void Database::set_durable(bool durable) {
  const std::lock_guard lock(mutex_);
  durable_ = durable;
}

// --- FakeSource ---

FakeSource::~FakeSource() {
  const std::lock_guard lock(database_.mutex_);
  if (database_.leader_ == this) database_.leader_ = nullptr;
}

AppliedPipeline FakeSource::load_pipeline() {
  AppliedPipeline pipeline = database_.pipeline();
  const auto reasons = database_.state().set_aside;
  for (AppliedIndex& index : pipeline.indices) {
    if (const auto reason = reasons.find(index.id); reason != reasons.end()) index.set_aside = reason->second;
  }
  return pipeline;
}

std::string FakeSource::revision() {
  return database_.pipeline().revision;
}

SourceIdentity Database::identity() const {
  const std::lock_guard lock(mutex_);
  return identity_;
}

void Database::set_identity(const SourceIdentity& identity) {
  const std::lock_guard lock(mutex_);
  identity_ = identity;
}

bool FakeSource::make_good() {
  const std::lock_guard lock(database_.mutex_);
  database_.state_.given_up = false;
  database_.state_.position = database_.state_.outbox.size();
  return true;
}

bool FakeSource::try_lead() {
  const std::lock_guard lock(database_.mutex_);
  if (database_.leader_ == nullptr) database_.leader_ = this;
  return database_.leader_ == this;
}

bool FakeSource::is_led() {
  const std::lock_guard lock(database_.mutex_);
  return database_.leader_ != nullptr;
}

Epoch FakeSource::epoch() {
  const std::lock_guard lock(database_.mutex_);
  return database_.state_.epoch;
}

Epoch FakeSource::raise_epoch(Epoch at_least, const KnownPartners& partners) {
  const std::lock_guard lock(database_.mutex_);
  database_.state_.partners = partners;
  Epoch& epoch = database_.state_.epoch;
  epoch.value = std::max(epoch.value, at_least.value) + 1;
  return epoch;
}

Position FakeSource::load_position() {
  return position_at(database_.state().position);
}

std::vector<Job> FakeSource::load_jobs() {
  std::vector<Job> jobs;
  for (const auto& [id, stored] : database_.state().jobs) jobs.push_back(stored.job);
  return jobs;
}

std::int64_t FakeSource::dead_letters(int index) {
  const State state = database_.state();
  return std::count_if(state.dead_letters.begin(), state.dead_letters.end(),
                       [&](const auto& letter) { return letter.second.index == index; });
}

std::vector<DeadLetter> FakeSource::dead_letters_of(int index, const Values& ids) {
  std::vector<DeadLetter> letters;
  for (const auto& [place, letter] : database_.state().dead_letters) {
    if (letter.index == index && std::find(ids.begin(), ids.end(), letter.id) != ids.end())
      letters.push_back(letter);
  }
  return letters;
}

std::vector<StoredDeadLetter> FakeSource::find_dead_letters(const DeadLetterFilter& filter,
                                                            const std::optional<DeadLetter>& after,
                                                            std::int64_t limit) {
  std::vector<StoredDeadLetter> found;
  for (const auto& [place, letter] : database_.state().dead_letters) {
    if (after && place <= DocumentPlace{after->index, after->id, after->routing}) continue;
    if (fits(letter, filter) && static_cast<std::int64_t>(found.size()) < limit)
      found.push_back({letter, "", "", 1});
  }
  return found;
}

std::int64_t FakeSource::count_dead_letters(const DeadLetterFilter& filter) {
  const State state = database_.state();
  return std::count_if(state.dead_letters.begin(), state.dead_letters.end(),
                       [&](const auto& letter) { return fits(letter.second, filter); });
}

std::int64_t FakeSource::discard_dead_letters(const DeadLetterFilter& filter) {
  const std::lock_guard lock(database_.mutex_);
  return static_cast<std::int64_t>(std::erase_if(
      database_.state_.dead_letters, [&](const auto& letter) { return fits(letter.second, filter); }));
}

std::unique_ptr<SourceTransaction> FakeSource::begin() {
  return std::make_unique<FakeTransaction>(database_, open_, FakeTransaction::Access::kReadWrite);
}

std::unique_ptr<SourceTransaction> FakeSource::begin_reading() {
  return std::make_unique<FakeTransaction>(database_, open_, FakeTransaction::Access::kReadOnly);
}

bool FakeSource::has_passed(const Position& place) {
  return database_.state().position >= rows_of(place);
}

bool FakeSource::may_have_changed(const Position& position) {
  return database_.state().outbox.size() > rows_of(position);
}

bool FakeSource::await_change(const Position& position, std::chrono::milliseconds look_every,
                              std::chrono::milliseconds) {
  std::this_thread::sleep_for(look_every);
  return may_have_changed(position);
}

void FakeSource::publish(const PublishedStatus& status) {
  const std::lock_guard lock(database_.mutex_);
  database_.published_.push_back(status);
}

}  // namespace lockstep::fake
