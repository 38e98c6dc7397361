#include "replicator/source/sqlite/read/change_log.h"

#include <algorithm>
#include <thread>

#include "replicator/source/sqlite/define/altered_indices.h"
#include "replicator/source/sqlite/read/changes.h"
#include "replicator/source/sqlite/read/due.h"
#include "replicator/source/sqlite/read/jobs.h"
#include "replicator/source/sqlite/read/transaction.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

// The file shows a write before the commit can be seen.
constexpr std::chrono::milliseconds kSeenAfter{10};
constexpr std::chrono::microseconds kLookAgain{50};

// A save takes the write lock, and an application that does not wait for it fails. Only a waiting client
// needs it sooner.
constexpr std::chrono::milliseconds kUnlessAwaited{1'000};

}  // namespace

// Documents rendered from other definitions than the applied ones have to be compared once these are put
// back, whatever becomes of this process.
template <typename Reading, typename Open>
std::unique_ptr<Reading> SqliteChangeLog::noted(const Open& open) {
  wal_care_.before_reading();
  while (true) {
    std::unique_ptr<Reading> reading = open();
    if (connection_.schema_version() == noted_at_) return reading;
    reading.reset();
    noted_at_ = note_altered_indices(connection_, pipeline_.applied.name);
  }
}

std::unique_ptr<SourceTransaction> SqliteChangeLog::begin(Epoch epoch) {
  leads_ = true;
  return noted<SourceTransaction>([&] {
    return std::make_unique<SqliteSourceTransaction>(connection_, pipeline_, first_seen_, history_, epoch);
  });
}

std::unique_ptr<SourceTransaction> SqliteChangeLog::begin_repair() {
  wal_care_.before_reading();
  return std::make_unique<SqliteSourceTransaction>(connection_, pipeline_, first_seen_, history_,
                                                   std::nullopt);
}

std::unique_ptr<SourceSnapshot> SqliteChangeLog::read() {
  const auto open = [&] { return std::make_unique<SqliteSourceSnapshot>(connection_, pipeline_); };
  if (leads_) return noted<SourceSnapshot>(open);
  wal_care_.before_reading();
  return open();
}

Position SqliteChangeLog::checkpoint() {
  constexpr const char* kDoing = "loading the checkpoint";
  SqliteStatement row(connection_, kDoing, "select last_id from {schema}_checkpoint where pipeline = ?1",
                      pipeline_.id());
  if (!row.step()) throw Error({kDoing, "the pipeline has no checkpoint", "run `lockstep apply`"});
  return position_at(stored_integer(row[0], "checkpoint"));
}

bool SqliteChangeLog::has_passed(const Position& position) {
  SqliteStatement pending(connection_, "asking for the acknowledged position",
                          "select 1 from {schema}_checkpoint as c join {schema}_outbox as o "
                          "on o.id > c.last_id and o.id <= ?2 "
                          "and o.capture in (select id from {schema}_capture where pipeline = ?1) "
                          "where c.pipeline = ?1 limit 1",
                          pipeline_.id(), id_of(position));
  return !pending.step();
}

bool SqliteChangeLog::may_have_changed(const Position& position) {
  connection_.require_same_file();
  const std::int64_t newest = newest_outbox_id(connection_);
  const std::int64_t read = id_of(position);
  first_seen_.forget(read);
  if (newest == read) return false;
  first_seen_.note(newest, std::chrono::steady_clock::now());
  return true;
}

// It sees the outbox alone, so it never knows that nothing at all was committed.
bool SqliteChangeLog::await_change(const Position& position, std::chrono::milliseconds check_every,
                                   std::chrono::milliseconds at_most) {
  using Clock = std::chrono::steady_clock;
  const SteadyTime end = Clock::now() + at_most;
  while (true) {
    if (may_have_changed(position)) return true;
    const SteadyTime now = Clock::now();
    if (now >= end) return true;
    wal_care_.while_idle();
    if (!wakeup_.wait(end - now, check_every)) continue;
    const SteadyTime seen_until = std::min(end, Clock::now() + kSeenAfter);
    for (auto pause = kLookAgain; !may_have_changed(position) && Clock::now() < seen_until;
         pause += kLookAgain)
      std::this_thread::sleep_for(pause);
  }
}

std::chrono::milliseconds SqliteChangeLog::save_within() {
  return awaited_.is_held_elsewhere() ? std::chrono::milliseconds::zero() : kUnlessAwaited;
}

UnfinishedJobs SqliteChangeLog::jobs() {
  return load_jobs(connection_, pipeline_);
}

std::vector<DueList> SqliteChangeLog::due() {
  return load_due(connection_, pipeline_.id());
}

std::optional<FoundDue> SqliteChangeLog::find_due(const AppliedIndex& index) {
  return finder_.advance(pipeline_, pipeline_.index(index.id));
}

}  // namespace lockstep
