#include "replicator/source/sqlite/read/outbox_maintenance.h"

#include <spdlog/spdlog.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>

#include "replicator/source/outbox/full_outbox.h"
#include "replicator/source/sqlite/define/altered_indices.h"
#include "replicator/source/sqlite/define/differences.h"
#include "replicator/source/sqlite/read/changes.h"
#include "replicator/source/sqlite/session/outbox_row.h"
#include "replicator/source/sqlite/session/sql_file.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/warnings.h"

namespace lockstep {
namespace {

constexpr const char* kPruning = "pruning the outbox";
constexpr const char* kResuming = "using the outbox again";
constexpr const char* kLooking = "looking at the outbox";

// A tenth of a millisecond's work.
constexpr std::int64_t kRowsOfASlice = 500;
constexpr std::chrono::milliseconds kLongestWork{20};

std::int64_t oldest_id(SqliteConnection& connection) {
  SqliteStatement oldest(connection, kLooking, "select min(id) from {schema}_outbox");
  oldest.step();
  return oldest[0].optional_integer().value_or(0);
}

/// Waits less for locks while it lives.
class ShortPatience {
 public:
  explicit ShortPatience(SqliteConnection& connection) : connection_(connection) {
    connection_.set_patience(kLongestWork);
  }
  ~ShortPatience() { connection_.set_patience(SqliteConnection::kPatience); }
  ShortPatience(const ShortPatience&) = delete;
  ShortPatience& operator=(const ShortPatience&) = delete;

 private:
  SqliteConnection& connection_;
};

}  // namespace

std::int64_t outbox_bytes(SqliteConnection& connection) {
  SqliteStatement range(
      connection, kLooking,
      "select (select max(id) from {schema}_outbox) - (select min(id) from {schema}_outbox) + 1");
  range.step();
  return range[0].optional_integer().value_or(0) * kOutboxRowBytes;
}

// The newest row that is passed stays: otherwise its number, and those before it, would be given again.
bool SqliteOutboxMaintenance::remove_before(std::int64_t row) {
  const ShortPatience patience(connection_);
  const auto end = std::chrono::steady_clock::now() + kLongestWork;
  try {
    for (std::int64_t oldest = oldest_id(connection_); oldest < row; oldest += kRowsOfASlice) {
      if (std::chrono::steady_clock::now() >= end) return false;
      SqliteWrite write(connection_, kPruning);
      SqliteStatement(connection_, kPruning, "delete from {schema}_outbox where id < ?1",
                      std::min(row, oldest + kRowsOfASlice))
          .run();
      write.commit(kPruning);
    }
    return true;
  } catch (const SqliteError& error) {
    if (error.primary_code() != SQLITE_BUSY) throw;
    return false;
  }
}

// Rows of a large change stay whose documents are still to be found. A paused index's due documents need
// none: it will be compared.
void SqliteOutboxMaintenance::prune() {
  std::int64_t passed = 0;
  {
    SqliteStatement row(
        connection_, kPruning,
        "select min(coalesce((select min(last_id) from {schema}_checkpoint), 0), "
        "coalesce((select min(read_from) from {schema}_due where read_to is not null "
        "and index_id not in (select index_id from {schema}_set_aside)), 9223372036854775807))");
    row.step();
    passed = row[0].integer();
  }
  is_behind_ = !remove_before(passed);
}

void SqliteOutboxMaintenance::keep_small() {
  if (is_behind_) return prune();
  SqliteStatement row(
      connection_, kLooking,
      "select 1 from {schema}_outbox_limit where max_rows is not null and "
      "(select max(id) from {schema}_outbox) - (select min(id) from {schema}_outbox) > max_rows / 2");
  if (row.step()) prune();
}

std::int64_t SqliteOutboxMaintenance::size() {
  return outbox_bytes(connection_);
}

bool SqliteOutboxMaintenance::has_given_up() {
  SqliteStatement row(connection_, kLooking, "select left_out from {schema}_outbox_limit");
  if (!row.step()) throw Error({kLooking, "lockstep's table outbox_limit is empty", "run `lockstep apply`"});
  return stored_integer(row[0], "outbox_limit") != 0;
}

// The rows go first, while writers work, since the outbox would be full again at once; the comparisons make
// up for them, and capture continues only with those. All pipelines are compared, because one that has no
// max_outbox_size now may have had one.
bool SqliteOutboxMaintenance::resume() {
  if (!remove_before(newest_outbox_id(connection_))) return false;
  SqliteWrite write(connection_, kResuming);
  connection_.execute(kResuming,
                      "update {schema}_checkpoint "
                      "set last_id = coalesce((select max(id) from {schema}_outbox), 0); "
                      "update {schema}_outbox_limit set left_out = 0");
  for (const char* kind : {"comparison", "sweep"}) {
    const std::string lacking =
        "from {schema}_index as i where i.followed <> 0 and not exists (select 1 from {schema}_job as j "
        "where j.index_id = i.id and j.kind = ?1 and j.position is null)";
    // The ids are counted up from the greatest that was given.
    SqliteStatement(connection_, kResuming,
                    "insert into {schema}_job (id, pipeline, index_id, kind, reason) "
                    "select (select job from {schema}_counter) + i.id, i.pipeline, i.id, ?1, ?2 " +
                        lacking,
                    kind, kOutboxWasFull)
        .run();
    connection_.execute(
        kResuming,
        "update {schema}_counter set job = max(job, coalesce((select max(id) from {schema}_job), 0))");
  }
  write.commit(kResuming);
  connection_.sync();
  return true;
}

// A table has no parts in SQLite. Only a table that a migration copies, drops and renames loses its triggers
// silently; that moves the schema's version.
std::vector<std::string> SqliteOutboxMaintenance::follow_parts() {
  const std::int64_t version = connection_.schema_version();
  if (whole_at_ == version) return {};
  const ShortPatience patience(connection_);
  try {
    std::vector<std::string> done = mend_triggers(connection_, pipeline_.applied.name);
    // Triggers that were made have moved the version again, so the next look finds nothing to do.
    if (done.empty()) whole_at_ = version;
    return done;
  } catch (const SqliteError& error) {
    if (error.primary_code() != SQLITE_BUSY) throw;
    return {};  // another connection writes; there is a next time
  }
}

void SqliteOutboxMaintenance::have_put_back_compared() {
  const ShortPatience patience(connection_);
  try {
    for (const std::string& line : compare_put_back(connection_, pipeline_.applied.name))
      spdlog::info("{}", line);
  } catch (const SqliteError& error) {
    if (error.primary_code() != SQLITE_BUSY) throw;  // another connection writes; there is a next time
  }
}

std::vector<std::string> SqliteOutboxMaintenance::differences_from_applied() {
  constexpr const char* kComparing = "looking for changes since the last apply";
  have_put_back_compared();
  const SqliteSnapshot snapshot(connection_, kComparing);
  std::vector<std::string> differences;
  for (SqliteDifference& difference : lockstep::differences_from_applied(connection_, pipeline_.applied.name))
    differences.push_back(std::move(difference.text));
  SqliteStatement row(connection_, kComparing, sqlite_sql("rows_of_no_index"), pipeline_.id());
  while (row.step()) differences.push_back(stored_warning(row[0].text(), row[1].text()));
  return differences;
}

}  // namespace lockstep
