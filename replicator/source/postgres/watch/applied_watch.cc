#include "replicator/source/postgres/watch/applied_watch.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "replicator/clock.h"
#include "replicator/error.h"
#include "replicator/source/awaited_work.h"
#include "replicator/source/outbox/sweep_wait.h"
#include "replicator/source/postgres/catalog/differences.h"
#include "replicator/source/postgres/read/lead_holders.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/position.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/postgres/watch/awaited.h"

namespace lockstep {
namespace {

constexpr std::chrono::milliseconds kAskLeaderAgain{1'000};
static_assert(kAskLeaderAgain < kAwaitedFor);

using Kind = AppliedState::Kind;

AppliedState pending(std::string reason) {
  return {Kind::kPending, std::move(reason)};
}

}  // namespace

/// Without a transaction the point is a snapshot, taken when it begins, or as soon as P4 allows.
class PostgresAppliedPoint final : public AppliedPoint {
 public:
  PostgresAppliedPoint(PostgresAppliedWatch& watch, std::optional<TransactionId> transaction)
      : watch_(watch), transaction_(transaction) {
    if (!transaction_) take_point();
  }

  AppliedState look() override {
    AppliedState state = look_once();
    const SteadyTime now = std::chrono::steady_clock::now();
    if (state.kind == Kind::kPending && ask_leader_.due(now)) {
      watch_.session_.ask("asking the leader to save", "select pg_notify($1, '')",
                          awaited_channel(watch_.identity_));
    }
    return state;
  }

 private:
  using TransactionState = PostgresAppliedWatch::TransactionState;

  struct Checkpoint {
    PostgresSnapshot prev;
    std::string cur;
    std::string last_txid;
    std::int64_t last_id = 0;
  };

  static constexpr std::string_view kTable = "checkpoint";

  // A row of `read_checkpoint`.
  static Checkpoint checkpoint_of(const pqxx::row& row) {
    return {PostgresSnapshot(stored<std::string>(row[0], kTable)), row[1].c_str(),
            stored<std::string>(row[2], kTable), stored<std::int64_t>(row[3], kTable)};
  }

  AppliedState look_once() {
    if (transaction_ && !committed_) {
      const AppliedState state = transaction_state();
      if (state.kind != Kind::kApplied) return state;
      committed_ = true;
    }
    if (!is_taken_) take_point();
    if (!is_taken_) return pending(unfollowed_ + "; `lockstep run` has not followed it yet");
    const pqxx::result row = watch_.session_.ask("asking how far Elasticsearch is",
                                                 postgres_sql("read_checkpoint"), watch_.pipeline_);
    if (row.empty()) {
      throw Error({"asking how far Elasticsearch is", "the pipeline was removed from the database",
                   "run `lockstep apply` if you want it back"});
    }
    const Checkpoint at = checkpoint_of(row[0]);
    const std::string generation =
        std::to_string(stored<std::int64_t>(row[0][4], kTable)) + " " + row[0][5].c_str();
    if (generation != generation_) {
      // Another `apply` or another leader may have replaced the jobs.
      generation_ = generation;
      work_.forget();
      watch_.load_captures();
    }
    if (!is_same({row[0][6].c_str(), row[0][7].c_str()}, watch_.place_)) {
      return pending(
          "no leader has compared this database with Elasticsearch yet; is `lockstep run` running?");
    }
    if (row[0][8].as<bool>()) {
      return pending(
          "the outbox was full, so changes were dropped; the leader has to compare every index first");
    }
    if (!work_.has_looked() && is_pending(at)) return pending(pending_changes(unfinished()));
    // Before the jobs: one transaction adds the comparison, and ends the difference.
    const std::string altered = watch_.altered_index();
    return work_.look(unfinished(), altered);
  }

  // P4. REQUIRES: the transaction, if any, has committed.
  void take_point() {
    const std::optional<std::string> transaction =
        transaction_ ? std::optional(std::to_string(transaction_->value)) : std::nullopt;
    const pqxx::row row = watch_.session_.ask(
        "asking for the last commit",
        fill_placeholders(postgres_sql("take_point"),
                          {{"schema", "{schema}"}, {"changed_parts", postgres_sql("find_changed_parts")}}),
        watch_.pipeline_, watch_.schema_name_, transaction)[0];
    unfollowed_ = row[1].c_str();
    if (!unfollowed_.empty()) {
      is_late_ = true;
      return;
    }
    is_taken_ = true;
    if (!transaction_ || is_late_ || row[2].as<bool>()) now_.emplace(row[0].c_str());
  }

  // kApplied: it has committed.
  AppliedState transaction_state() {
    const std::string number = std::to_string(transaction_->value);
    switch (watch_.state_of(*transaction_)) {
      case TransactionState::kNotBegun:
        return {Kind::kUnknownTransaction, "no transaction " + number + " has begun in this database"};
      case TransactionState::kOpen:
        return pending("transaction " + number + " is still open");
      case TransactionState::kRolledBack:
        return {Kind::kRolledBack, "transaction " + number + " was rolled back"};
      case TransactionState::kCommitted:
        break;
    }
    return {Kind::kApplied};
  }

  // Not P1.
  bool is_pending(const Checkpoint& at) {
    if (!now_) {
      if (at.prev.sees(transaction_->value)) return false;
      return watch_.session_
          .ask("looking for pending changes", postgres_sql("find_pending_of_transaction"), watch_.captures_,
               std::to_string(transaction_->value), at.cur, at.last_txid, at.last_id)[0][0]
          .as<bool>();
    }
    std::vector<std::uint64_t> late = at.prev.finished_in(*now_);
    if (!at.cur.empty()) {
      const std::vector<std::uint64_t> later = PostgresSnapshot(at.cur).finished_in(*now_);
      late.insert(late.end(), later.begin(), later.end());
    }
    std::vector<std::string> txids;
    for (const std::uint64_t txid : late) txids.push_back(std::to_string(txid));
    return watch_.session_
        .ask("looking for pending changes", postgres_sql("find_pending"), watch_.captures_,
             std::to_string(at.prev.xmax()), now_->text(), std::to_string(now_->xmax()), at.last_txid,
             at.last_id, array_literal(txids), at.cur)[0][0]
        .as<bool>();
  }

  // For P2 and P3, by a later snapshot than the one that has shown P1.
  std::vector<UnfinishedWork> unfinished() {
    std::vector<UnfinishedWork> work;
    for (const pqxx::row& row : watch_.session_.ask("looking for unfinished jobs",
                                                    postgres_sql("unfinished_work"), watch_.pipeline_)) {
      UnfinishedWork each{.what = row[1].c_str()};
      if (!row[0].is_null()) each.job = JobId{row[0].as<std::int64_t>()};
      if (!row[3].is_null())
        each.due = {DueNumber{row[3].as<std::int64_t>()}, DueNumber{row[4].as<std::int64_t>()}};
      if (row[2].as<bool>(false)) each.what += std::string("; ") + kSweepWaits;
      work.push_back(std::move(each));
    }
    return work;
  }

  PostgresAppliedWatch& watch_;
  const std::optional<TransactionId> transaction_;
  bool committed_ = false;
  bool is_taken_ = false;                // P4 holds
  bool is_late_ = false;                 // it did not at first
  std::string unfollowed_;               // not P4: which part, in words
  std::optional<PostgresSnapshot> now_;  // the point; none: it is the transaction
  AwaitedWork work_;                     // of P2; it has looked: P1 holds
  std::string generation_;
  Every ask_leader_{kAskLeaderAgain};
};

PostgresAppliedWatch::PostgresAppliedWatch(const Config& config)
    : session_(config.source, config.pipeline + " wait"), schema_name_(config.source.schema) {
  const pqxx::row row = require_applied(session_, config.source.schema, config.pipeline,
                                        statement_with_place(session_, "find_pipeline"));
  if (row[4].as<bool>()) {
    throw Error(
        {"asking how far Elasticsearch is", "the source is a standby",
         "let source.url name the primary (a standby cannot show which transactions are still running)",
         Retry::kLater, Server::kSource});
  }
  pipeline_ = row[0].as<int>();
  identity_ = stored<std::string>(row[1], "pipeline");
  place_ = {row[2].c_str(), row[3].c_str()};
  load_captures();
}

void PostgresAppliedWatch::load_captures() {
  std::vector<CaptureId> captures;
  for (const pqxx::row& row : session_.ask(
           "loading the captures", "select id from {schema}.capture where pipeline = $1", pipeline_)) {
    captures.push_back({row[0].as<int>()});
  }
  captures_ = ids_literal(captures);
}

std::string PostgresAppliedWatch::altered_index() {
  constexpr const char* kDoing = "looking for changes since the last apply";
  {
    PostgresTransaction direct(session_, kDoing, Isolation::kEachStatement);
    if (are_as_stored(direct, pipeline_)) return {};
  }
  try {
    PostgresTransaction transaction(session_, kDoing);
    transaction.execute("set local lock_timeout = '100ms'");
    for (Difference& difference : altered_indices(transaction, pipeline_, Generations::kSearched)) {
      if (!difference.text.empty()) return std::move(difference.text);
    }
    return {};
  } catch (const PostgresError& error) {
    if (error.sqlstate() != sqlstate::kLockNotAvailable) throw;
    return "another session is changing a view, or what it reads, at this moment";
  }
}

PostgresAppliedWatch::TransactionState PostgresAppliedWatch::state_of(TransactionId transaction) {
  const std::string number = std::to_string(transaction.value);
  PostgresTransaction direct(session_, "looking for transaction " + number, Isolation::kEachStatement);
  std::string state;
  try {
    state = direct.run_once("select coalesce(pg_xact_status($1::xid8), 'old')", number)[0][0].c_str();
  } catch (const PostgresError& error) {
    // A number in the future, or one that no transaction can have.
    if (error.is_data_exception()) return TransactionState::kNotBegun;
    throw;
  }
  if (state == "in progress") return TransactionState::kOpen;
  if (state == "aborted") return TransactionState::kRolledBack;
  if (state == "committed" || state == "old") return TransactionState::kCommitted;
  throw Error({"looking for transaction " + number,
               "the server reports \"" + state + "\", which this lockstep does not know",
               "install a newer lockstep"});
}

std::unique_ptr<AppliedPoint> PostgresAppliedWatch::begin(std::optional<TransactionId> transaction) {
  return std::make_unique<PostgresAppliedPoint>(*this, transaction);
}

std::vector<SearchedIndex> PostgresAppliedWatch::searched_indices() {
  const pqxx::result rows =
      session_.ask("looking for reindexes",
                   "select alias, live_name, case state when 'swapping' then beside_name else live_name end "
                   "from {schema}.reindex where pipeline = $1 and live_name <> '' and state <> 'failed'",
                   pipeline_);
  std::vector<SearchedIndex> searched;
  for (const pqxx::row& row : rows) {
    searched.push_back({stored<std::string>(row[0], "reindex"), stored<std::string>(row[1], "reindex"),
                        stored<std::string>(row[2], "reindex")});
  }
  return searched;
}

bool PostgresAppliedWatch::is_led() {
  PostgresTransaction direct(session_, "looking for a leader", Isolation::kEachStatement);
  return lockstep::is_led(lead_locks(direct, identity_));
}

}  // namespace lockstep
