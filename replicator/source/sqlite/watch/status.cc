#include "replicator/source/sqlite/watch/status.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "replicator/error.h"
#include "replicator/source/sqlite/read/due.h"
#include "replicator/source/sqlite/read/outbox_maintenance.h"
#include "replicator/source/sqlite/session/byte_lock.h"
#include "replicator/source/sqlite/session/migrations.h"
#include "replicator/source/sqlite/session/outbox_row.h"
#include "replicator/source/sqlite/session/sql_file.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/source/sqlite/watch/status_file.h"

namespace lockstep {
namespace {

constexpr const char* kReading = "reading the status";

// A number of days between two times of SQLite's.
std::chrono::milliseconds milliseconds_of(const SqliteColumn& days) {
  return std::chrono::milliseconds(std::max(0LL, std::llround(days.real() * 86'400'000)));
}

void read_job(const SqliteStatement& row, IndexStatus::Job& job) {
  constexpr std::string_view kTable = "job";
  job_position(row[2].optional_text(), job_kind(row[1].optional_text(), job.id), job.id);
  job.done = stored_integer(row[3], kTable);
  job.total = row[4].optional_integer();
  job.reason = stored_text(row[5], kTable);
  stored_text(row[6], kTable);
}

std::vector<IndexStatus::Job> jobs_of(SqliteConnection& connection, IndexId index) {
  SqliteStatement row(connection, kReading,
                      "select id, kind, position, done, total, reason, created_at from {schema}_job "
                      "where index_id = ?1 order by id",
                      index.value);
  std::vector<IndexStatus::Job> jobs;
  while (row.step()) {
    IndexStatus::Job job;
    job.id = {row[0].integer()};
    job.kind = row[1].text();
    job.reason = row[5].text();
    try {
      read_job(row, job);
    } catch (const Error& error) {
      job.unreadable = error.what();
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::vector<IndexStatus::Refused> refused_of(SqliteConnection& connection, IndexId index) {
  SqliteStatement row(connection, kReading,
                      "select error_type, count(*) from {schema}_dead_letter where index_id = ?1 "
                      "group by error_type order by count(*) desc, error_type",
                      index.value);
  std::vector<IndexStatus::Refused> refused;
  while (row.step()) refused.push_back({stored_text(row[0], "dead_letter"), row[1].integer()});
  return refused;
}

std::vector<IndexStatus> indices_of(SqliteConnection& connection, int pipeline) {
  constexpr std::string_view kTable = "index";
  SqliteStatement row(connection, kReading,
                      "select i.id, i.alias, i.view, "
                      "(select coalesce(nullif(a.reason, ''), 'no reason is stored') "
                      "from {schema}_set_aside as a where a.index_id = i.id) "
                      "from {schema}_index as i where i.pipeline = ?1 and i.followed <> 0 order by i.id",
                      pipeline);
  std::vector<IndexStatus> indices;
  while (row.step()) {
    IndexStatus index;
    index.id = {static_cast<int>(row[0].integer())};
    index.alias = stored_text(row[1], kTable);
    index.view = quote_sqlite_name(stored_text(row[2], kTable));
    index.set_aside = row[3].optional_text();
    index.refused = refused_of(connection, index.id);
    for (const IndexStatus::Refused& kind : index.refused) index.dead_letters += kind.documents;
    index.jobs = jobs_of(connection, index.id);
    indices.push_back(std::move(index));
  }
  for (DueList& list : load_due(connection, pipeline)) {
    const auto index = std::ranges::find(indices, list.index, &IndexStatus::id);
    if (index != indices.end()) index->due = std::move(list);
  }
  return indices;
}

std::vector<ReindexStatus> reindexes_of(SqliteConnection& connection, int pipeline) {
  constexpr std::string_view kTable = "reindex";
  SqliteStatement row(connection, kReading, sqlite_sql("read_reindexes"), pipeline);
  std::vector<ReindexStatus> reindexes;
  while (row.step()) {
    reindexes.push_back(
        {stored_text(row[1], kTable), stored_text(row[2], kTable), stored_text(row[6], kTable),
         stored_text(row[7], kTable), stored_text(row[8], kTable), stored_text(row[12], kTable),
         stored_text(row[13], kTable), std::chrono::seconds(row[11].integer()), row[16].optional_integer()});
  }
  return reindexes;
}

}  // namespace

SqliteStatus::SqliteStatus(const Config& config) : connection_(config.source), pipeline_(config.pipeline) {}

std::optional<PipelineStatus> SqliteStatus::read() {
  const SqliteSnapshot snapshot(connection_, kReading);
  if (!has_own_tables(connection_)) return std::nullopt;
  require_migrated(connection_);
  SqliteStatement row(
      connection_, kReading,
      "select p.id, p.identity, c.epoch, c.last_id, c.written_at, julianday('now') - "
      "julianday(c.written_at), "
      "l.max_rows, l.left_out, (select count(*) from (select 1 from {schema}_outbox as o where o.id > "
      "c.last_id "
      "and o.capture in (select k.id from {schema}_capture as k where k.pipeline = p.id) limit ?2)) "
      "from {schema}_pipeline as p join {schema}_checkpoint as c on c.pipeline = p.id, "
      "{schema}_outbox_limit as l where p.name = ?1",
      pipeline_, kMaxPendingRows);
  if (!row.step()) return std::nullopt;
  constexpr std::string_view kCheckpoint = "checkpoint";
  PipelineStatus status;
  const int id = static_cast<int>(row[0].integer());
  status.identity = stored_text(row[1], "pipeline");
  status.epoch = {stored_integer(row[2], kCheckpoint)};
  stored_integer(row[3], kCheckpoint);
  stored_text(row[4], kCheckpoint);
  status.checkpoint_age = milliseconds_of(row[5]);
  status.outbox_bytes = outbox_bytes(connection_);
  if (!row[6].is_null()) status.max_outbox_bytes = row[6].integer() * kOutboxRowBytes;
  status.given_up = stored_integer(row[7], "outbox_limit") != 0;
  status.pending_rows = row[8].integer();
  status.indices = indices_of(connection_, id);
  status.reindexes = reindexes_of(connection_, id);
  const std::optional<SqliteReport> report = read_report(connection_.file().status(pipeline_));
  if (report) status.leader = report->leader;
  if (status.pending_rows > 0) {
    // Rows since the report are no older than the report.
    status.pending_age = report
                             ? report->leader.age + report->pending_age.value_or(std::chrono::milliseconds{})
                             : status.checkpoint_age;
  }
  if (ByteLock(connection_.file(), LockPurpose::kLead, id).is_held_elsewhere()) {
    LeadHolder holder;
    if (report) holder.pid = report->leader.pid;
    holder.application = "lockstep";
    if (report) holder.since = report->leader.started_at;
    status.lead.push_back(std::move(holder));
  }
  return status;
}

}  // namespace lockstep
