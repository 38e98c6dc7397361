#include "replicator/source/sqlite/watch/applied_watch.h"

#include <string>
#include <utility>
#include <vector>

#include "replicator/error.h"
#include "replicator/source/awaited_work.h"
#include "replicator/source/outbox/sweep_wait.h"
#include "replicator/source/sqlite/define/altered_indices.h"
#include "replicator/source/sqlite/define/differences.h"
#include "replicator/source/sqlite/read/changes.h"
#include "replicator/source/sqlite/read/due.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"

namespace lockstep {
namespace {

constexpr const char* kLooking = "asking how far Elasticsearch is";

AppliedState pending(std::string reason) {
  return {AppliedState::Kind::kPending, std::move(reason)};
}

}  // namespace

/// The rows of the outbox that are there when it begins.
class SqliteAppliedPoint final : public AppliedPoint {
 public:
  explicit SqliteAppliedPoint(SqliteAppliedWatch& watch)
      : watch_(watch), up_to_(newest_outbox_id(watch.connection_)) {}
  ~SqliteAppliedPoint() override { watch_.awaited_.let_go(); }
  SqliteAppliedPoint(const SqliteAppliedPoint&) = delete;
  SqliteAppliedPoint& operator=(const SqliteAppliedPoint&) = delete;

  AppliedState look() override {
    AppliedState state = look_once();
    if (state.kind == AppliedState::Kind::kPending) {
      watch_.awaited_.share();
    } else {
      watch_.awaited_.let_go();
    }
    return state;
  }

 private:
  AppliedState look_once() {
    SqliteConnection& connection = watch_.connection_;
    const SqliteSnapshot snapshot(connection, kLooking);
    constexpr std::string_view kCheckpoint = "checkpoint";
    SqliteStatement row(connection, kLooking,
                        "select c.last_id, c.epoch, p.revision, json_extract(c.partners, '$.place'), "
                        "(select left_out from {schema}_outbox_limit) "
                        "from {schema}_checkpoint as c join {schema}_pipeline as p on p.id = c.pipeline "
                        "where c.pipeline = ?1",
                        watch_.pipeline_);
    if (!row.step()) {
      throw Error({kLooking, "the pipeline was removed from the database",
                   "run `lockstep apply` if you want it back"});
    }
    const std::int64_t last_id = stored_integer(row[0], kCheckpoint);
    const std::string generation = std::to_string(stored_integer(row[1], kCheckpoint)) + " " +
                                   std::to_string(stored_integer(row[2], "pipeline"));
    if (generation != generation_) {
      generation_ = generation;
      work_.forget();
    }
    if (row[3].text() != connection.file().place())
      return pending(
          "no leader has compared this database with Elasticsearch yet; is `lockstep run` running?");
    if (stored_integer(row[4], "outbox_limit") != 0)
      return pending(
          "the outbox was full, so changes were dropped; the leader has to compare every index first");
    if (std::string lost = watch_.lost_changes(); !lost.empty()) return pending(std::move(lost));
    if (!work_.has_looked() && is_pending(last_id)) return pending(pending_changes(unfinished()));
    return work_.look(unfinished(), watch_.altered_index());
  }

  // Not P1.
  bool is_pending(std::int64_t last_id) {
    SqliteStatement row(watch_.connection_, "looking for pending changes",
                        "select 1 from {schema}_outbox where id > ?2 and id <= ?3 "
                        "and capture in (select id from {schema}_capture where pipeline = ?1) limit 1",
                        watch_.pipeline_, last_id, up_to_);
    return row.step();
  }

  // Searchers do not see a generation next to another, so no client waits for it, until the alias is about to
  // move there.
  std::vector<UnfinishedWork> unfinished() {
    SqliteStatement row(
        watch_.connection_, "looking for unfinished jobs",
        "select null as job, i.alias || ': ' || coalesce(nullif(a.reason, ''), 'no reason is stored'), 0, "
        "null, null "
        "from {schema}_set_aside as a join {schema}_index as i on i.id = a.index_id where i.pipeline = ?1 "
        "and not exists (select 1 from {schema}_reindex as r where r.beside = i.id and r.state <> "
        "'swapping') "
        "union all "
        "select null, case coalesce(sum(d.documents), 0) when 0 then 'documents of ' || i.alias || ' are due "
        "that are still "
        "to be found' when 1 then '1 document of ' || i.alias || ' is due' "
        "else printf('%,d', sum(d.documents)) || ' documents of ' || i.alias || ' are due' end, 0, "
        "min(coalesce(d.since, d.number)), max(d.number) "
        "from {schema}_due as d join {schema}_index as i on i.id = d.index_id where i.pipeline = ?1 and "
        "d.due_at <= ?2 "
        "and not exists (select 1 from {schema}_reindex as r where r.beside = i.id and r.state <> "
        "'swapping') group by i.id "
        "union all "
        "select j.id, coalesce(j.kind, 'a job of no kind') || ' of ' || i.alias || ', ' || "
        "printf('%,d', j.done) || iif(j.total is null, '', ' of about ' || printf('%,d', j.total)) || case "
        "coalesce(j.total, j.done) when 1 then ' document' "
        "else ' documents' end || ' so far', coalesce(j.kind = 'sweep', 0), "
        "null, null "
        "from {schema}_job as j join {schema}_index as i on i.id = j.index_id where j.pipeline = ?1 "
        "and not exists (select 1 from {schema}_reindex as r where r.beside = i.id and r.state <> "
        "'swapping') "
        "order by 1",
        watch_.pipeline_, due_now());
    std::vector<UnfinishedWork> work;
    while (row.step()) {
      UnfinishedWork each{.what = std::string(row[1].text())};
      if (!row[0].is_null()) each.job = JobId{row[0].integer()};
      if (!row[3].is_null()) each.due = {DueNumber{row[3].integer()}, DueNumber{row[4].integer()}};
      if (row[2].integer() != 0) each.what += std::string("; ") + kSweepWaits;
      work.push_back(std::move(each));
    }
    return work;
  }

  SqliteAppliedWatch& watch_;
  const std::int64_t up_to_;
  AwaitedWork work_;  // of P2; it has looked: P1 holds
  std::string generation_;
};

SqliteAppliedWatch::SqliteAppliedWatch(const Config& config)
    : connection_(config.source),
      name_(config.pipeline),
      pipeline_(require_applied(connection_, config.pipeline).id),
      lead_(connection_.file(), LockPurpose::kLead, pipeline_),
      awaited_(connection_.file(), LockPurpose::kAwaited, pipeline_) {}

std::unique_ptr<AppliedPoint> SqliteAppliedWatch::begin(std::optional<TransactionId> transaction) {
  if (transaction) {
    throw UsageError(
        "--xid: SQLite gives transactions no numbers; without it `lockstep wait` waits for everything that "
        "is "
        "committed");
  }
  return std::make_unique<SqliteAppliedPoint>(*this);
}

std::string SqliteAppliedWatch::lost_changes() {
  const std::int64_t version = connection_.schema_version();
  if (whole_at_ == version) return {};
  std::string lost = lockstep::lost_changes(connection_, name_);
  if (lost.empty()) whole_at_ = version;
  return lost;
}

std::string SqliteAppliedWatch::altered_index() {
  SqliteStatement row(connection_, "looking for changes since the last apply",
                      "select group_concat(definition, char(10)) from {schema}_index where pipeline = ?1",
                      pipeline_);
  row.step();
  const std::pair seen{connection_.schema_version(), row[0].is_null() ? "" : std::string(row[0].text())};
  if (unaltered_at_ == seen) return {};
  for (const SqliteAlteredIndex& index : altered_indices(connection_, load_applied(connection_, name_))) {
    if (index.is_followed && index.is_searched) return index.text();
  }
  unaltered_at_ = seen;
  return {};
}

std::vector<SearchedIndex> SqliteAppliedWatch::searched_indices() {
  SqliteStatement row(
      connection_, "looking for reindexes",
      "select alias, live_name, case state when 'swapping' then beside_name else live_name end "
      "from {schema}_reindex where pipeline = ?1 and live_name <> '' and state <> 'failed'",
      pipeline_);
  std::vector<SearchedIndex> searched;
  while (row.step()) {
    searched.push_back(
        {stored_text(row[0], "reindex"), stored_text(row[1], "reindex"), stored_text(row[2], "reindex")});
  }
  return searched;
}

bool SqliteAppliedWatch::is_led() {
  return lead_.is_held_elsewhere();
}

}  // namespace lockstep
