#include "replicator/source/postgres/read/change_log.h"

#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/read/due.h"
#include "replicator/source/postgres/read/jobs.h"
#include "replicator/source/postgres/read/page_connection.h"
#include "replicator/source/postgres/read/position.h"
#include "replicator/source/postgres/read/snapshot.h"
#include "replicator/source/postgres/read/transaction.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"

namespace lockstep {
namespace {

// pg_sleep() sleeps for whole milliseconds, of the time left until its end, rounded up. That time is not
// exact, so 1 ms mostly took 2. (pg_sleep in PostgreSQL's src/backend/utils/adt/misc.c)
constexpr std::chrono::microseconds kBelowWholeMilliseconds{100};

constexpr std::chrono::milliseconds kUnlessAwaited{100};

}  // namespace

std::unique_ptr<SourceTransaction> PostgresChangeLog::begin(Epoch epoch) {
  return std::make_unique<PostgresSourceTransaction>(session_, pipeline_, epoch, &sharing_);
}

std::unique_ptr<SourceTransaction> PostgresChangeLog::begin_repair() {
  return std::make_unique<PostgresSourceTransaction>(session_, pipeline_, std::nullopt, nullptr);
}

std::unique_ptr<PageConnection> PostgresChangeLog::page_connection() {
  return std::make_unique<PostgresPageConnection>(source_, purpose_ + ", pages of jobs", pipeline_);
}

bool PostgresChangeLog::cancel_reading() {
  session_.cancel();
  sharing_.cancel_statements();
  return true;
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
  constexpr std::string_view kTable = "checkpoint";
  return PostgresPosition{stored<std::string>(row[0][0], kTable), row[0][1].c_str(),
                          stored<std::uint64_t>(row[0][2], kTable), stored<std::int64_t>(row[0][3], kTable)}
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

// Any commit makes another snapshot current.
bool PostgresChangeLog::await_change(const Position& position, std::chrono::milliseconds check_every,
                                     std::chrono::milliseconds at_most) {
  using Seconds = std::chrono::duration<double>;
  const PostgresPosition at = PostgresPosition::from(position);
  const Seconds pause = check_every - kBelowWholeMilliseconds;
  changed_ = !at.cur.empty() || session_
                                    .ask("waiting for changes", "select {schema}.await_change($1, $2, $3)",
                                         at.prev, pause.count(), Seconds(at_most).count())[0][0]
                                    .as<bool>();
  return changed_;
}

std::chrono::milliseconds PostgresChangeLog::save_within() {
  bool awaited = false;
  session_.translating("looking for waiting commands", [&] {
    if (!awaited_) {
      awaited_ = std::make_unique<PostgresAwaited>(session_.connection(), pipeline_.applied.identity);
    }
    awaited = awaited_->is_awaited(std::chrono::steady_clock::now());
  });
  return awaited ? std::chrono::milliseconds::zero() : kUnlessAwaited;
}

UnfinishedJobs PostgresChangeLog::jobs() {
  PostgresTransaction direct(session_, "loading the jobs", Isolation::kEachStatement);
  return load_jobs(direct, pipeline_);
}

std::vector<DueList> PostgresChangeLog::due() {
  PostgresTransaction direct(session_, "loading the due list", Isolation::kEachStatement);
  return load_due(direct, pipeline_);
}

std::optional<FoundDue> PostgresChangeLog::find_due(const AppliedIndex& index) {
  return finder_.advance(pipeline_, pipeline_.index(index.id));
}

}  // namespace lockstep
