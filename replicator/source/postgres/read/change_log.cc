#include "replicator/source/postgres/read/change_log.h"

#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/read/position.h"
#include "replicator/source/postgres/read/snapshot.h"
#include "replicator/source/postgres/read/transaction.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

std::optional<std::string> text_of(const pqxx::field& field) {
  return field.is_null() ? std::nullopt : std::optional<std::string>(field.c_str());
}

// A row of the statement in jobs().
Job job_of(const pqxx::row& row) {
  Job job;
  job.id = {row[0].as<std::int64_t>()};
  job.index = {row[1].as<int>()};
  job.kind = job_kind(row[2].c_str(), job.id);
  job.position = job_position(text_of(row[3]), job.kind, job.id);
  job.done = row[4].as<std::int64_t>();
  if (!row[5].is_null()) job.total = row[5].as<std::int64_t>();
  job.reason = row[6].c_str();
  if (!row[7].is_null()) job.behind = JobId{row[7].as<std::int64_t>()};
  return job;
}

}  // namespace

std::unique_ptr<SourceTransaction> PostgresChangeLog::begin(Epoch epoch) {
  return std::make_unique<PostgresSourceTransaction>(session_, pipeline_, epoch, expansion_.job_in_hand());
}

std::unique_ptr<SourceTransaction> PostgresChangeLog::begin_repair() {
  return std::make_unique<PostgresSourceTransaction>(session_, pipeline_, std::nullopt, std::nullopt);
}

std::unique_ptr<SourceSnapshot> PostgresChangeLog::read() {
  return std::make_unique<PostgresSourceSnapshot>(session_, pipeline_);
}

Position PostgresChangeLog::checkpoint() {
  const pqxx::result row =
      session_.ask("loading the checkpoint",
                   "select prev::text, coalesce(cur::text, ''), last_txid::text, last_id "
                   "from {schema}.checkpoint where pipeline = $1",
                   pipeline_.id());
  if (row.empty()) throw Error({"loading the checkpoint", "the pipeline has none", "run `lockstep apply`"});
  return PostgresPosition{row[0][0].c_str(), row[0][1].c_str(), row[0][2].as<std::uint64_t>(),
                          row[0][3].as<std::int64_t>()}
      .to_position();
}

bool PostgresChangeLog::has_passed(const Position& position) {
  return session_
      .ask("asking how far Elasticsearch is", postgres_sql("has_passed"), pipeline_.id(),
           PostgresPosition::from(position).prev, pipeline_.captures)[0][0]
      .as<bool>();
}

bool PostgresChangeLog::may_have_changed(const Position& position) {
  const PostgresPosition at = PostgresPosition::from(position);
  if (std::exchange(changed_, false) || !at.cur.empty()) return true;
  return session_.ask("looking for changes", "select pg_current_snapshot()::text")[0][0].c_str() != at.prev;
}

bool PostgresChangeLog::await_change(const Position& position, std::chrono::milliseconds check_every,
                                     std::chrono::milliseconds at_most) {
  using Seconds = std::chrono::duration<double>;
  const PostgresPosition at = PostgresPosition::from(position);
  changed_ =
      !at.cur.empty() || session_
                             .ask("waiting for changes", "select {schema}.await_change($1, $2, $3)", at.prev,
                                  Seconds(check_every).count(), Seconds(at_most).count())[0][0]
                             .as<bool>();
  return changed_;
}

bool PostgresChangeLog::is_awaited() {
  bool awaited = false;
  translating_postgres_errors("looking whether somebody waits", [&] {
    if (!awaited_) {
      awaited_ = std::make_unique<PostgresAwaited>(session_.connection(), pipeline_.applied.identity);
    }
    awaited = awaited_->is_awaited(std::chrono::steady_clock::now());
  });
  return awaited;
}

std::vector<Job> PostgresChangeLog::jobs() {
  std::vector<Job> jobs;
  for (const pqxx::row& row :
       session_.ask("loading the jobs",
                    "select id, index, kind, position, done, total, reason, behind from {schema}.job "
                    "where pipeline = $1 order by id",
                    pipeline_.id())) {
    jobs.push_back(job_of(row));
  }
  return jobs;
}

std::optional<std::int64_t> PostgresChangeLog::expand(const AppliedIndex& index, const Job& fan_out) {
  return expansion_.advance(pipeline_.index(index.id), fan_out.id);
}

}  // namespace lockstep
