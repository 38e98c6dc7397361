#include "replicator/source/postgres/read/source.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/open_source.h"
#include "replicator/source/postgres/read/dead_letters.h"
#include "replicator/source/postgres/read/jobs.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/snapshot.h"
#include "replicator/source/postgres/read/transaction.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/watch/outbox_limit.h"

namespace lockstep {
namespace {

constexpr int kSlots = 3;

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

PostgresSource::PostgresSource(const Config& config, const std::string& purpose)
    : session_(config.source, config.pipeline + " " + purpose),
      expansion_(config.source, config.pipeline + " " + purpose + ", large changes"),
      schema_name_(config.source.schema),
      pipeline_name_(config.pipeline) {}

AppliedPipeline PostgresSource::load_pipeline() {
  const pqxx::row row = require_applied(session_, schema_name_, pipeline_name_,
                                        "select id, identity::text, coalesce(applied_at::text, ''), "
                                        "clock_timestamp()::text from {schema}.pipeline where name = $1");
  AppliedPipeline pipeline;
  pipeline.id = row[0].as<int>();
  pipeline.name = pipeline_name_;
  pipeline.identity = row[1].c_str();
  pipeline.revision = row[2].c_str();
  started_at_ = row[3].c_str();

  Values captures;
  for (const pqxx::row& line :
       session_.ask("loading the indices", postgres_sql("load_indices"), pipeline.id)) {
    const int id = line[0].as<int>();
    if (pipeline.indices.empty() || pipeline.indices.back().id != id) {
      AppliedIndex index;
      index.id = id;
      index.alias = line[1].c_str();
      index.view = line[2].c_str();
      index.id_type = line[3].c_str();
      index.routed = line[4].as<bool>();
      index.fields = nlohmann::json::parse(line[5].c_str()).get<std::vector<std::string>>();
      index.definition = line[6].c_str();
      index.set_aside = line[10].c_str();
      pipeline.indices.push_back(std::move(index));
    }
    if (line[7].is_null()) continue;
    pipeline.indices.back().tracks.push_back({line[7].as<int>(), line[8].c_str(), line[9].c_str()});
    captures.emplace_back(line[7].c_str());
  }
  pipeline_ = pipeline.id;
  identity_ = pipeline.identity;
  captures_ = array_literal(captures);
  return pipeline;
}

std::string PostgresSource::revision() {
  const pqxx::result row =
      session_.ask("looking whether the pipeline was applied anew",
                   "select coalesce(applied_at::text, '') from {schema}.pipeline where id = $1", pipeline_);
  return row.empty() ? std::string() : row[0][0].c_str();
}

SourceIdentity PostgresSource::identity() {
  const pqxx::result row =
      session_.ask("asking the source who it is",
                   "select (pg_control_system()).system_identifier || '/' || d.oid, "
                   "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), "
                   "pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint "
                   "from pg_catalog.pg_database as d where d.datname = current_database()");
  return {row[0][0].c_str(), row[0][1].c_str(), row[0][2].as<std::int64_t>()};
}

KnownPartners PostgresSource::known_partners() {
  KnownPartners partners;
  for (const pqxx::row& row :
       session_.ask("loading what is known of both sides", postgres_sql("load_partners"), pipeline_)) {
    partners.place = row[0].c_str();
    if (!row[1].is_null()) partners.targets[row[1].as<int>()] = row[2].c_str();
  }
  return partners;
}

bool PostgresSource::try_lead() {
  if (session_.ask("asking whether the source is a standby", "select pg_is_in_recovery()")[0][0].as<bool>()) {
    throw Error(
        {"taking the lead", "the source is a standby",
         "let source.url name the primary (a standby cannot tell which transactions are still running)",
         Retry::kLater, Server::kSource});
  }
  return session_
      .ask("taking the lead", "select pg_try_advisory_lock(hashtextextended($1, 0))", identity_)[0][0]
      .as<bool>();
}

Epoch PostgresSource::epoch() {
  const pqxx::result row = session_.ask(
      "loading the epoch", "select epoch from {schema}.checkpoint where pipeline = $1", pipeline_);
  if (row.empty())
    throw Error({"loading the epoch", "the pipeline has no checkpoint", "run `lockstep apply`"});
  return Epoch{row[0][0].as<std::int64_t>()};
}

Epoch PostgresSource::raise_epoch(Epoch at_least, const KnownPartners& partners) {
  Values indices;
  Values uuids;
  for (const auto& [index, uuid] : partners.targets) {
    indices.push_back(std::to_string(index));
    uuids.push_back(uuid);
  }
  const pqxx::result row =
      session_.ask("raising the epoch", postgres_sql("raise_epoch"), pipeline_, at_least.value,
                   partners.place, array_literal(indices), array_literal(uuids));
  if (row.empty()) {
    throw Error({"raising the epoch", "the pipeline has no checkpoint", "run `lockstep apply`"});
  }
  return Epoch{row[0][0].as<std::int64_t>()};
}

Position PostgresSource::load_position() {
  const pqxx::result row =
      session_.ask("loading the checkpoint",
                   "select prev::text, coalesce(cur::text, ''), last_txid::text, last_id "
                   "from {schema}.checkpoint where pipeline = $1",
                   pipeline_);
  if (row.empty()) throw Error({"loading the checkpoint", "the pipeline has none", "run `lockstep apply`"});
  return PostgresPosition{row[0][0].c_str(), row[0][1].c_str(), std::stoull(row[0][2].c_str()),
                          row[0][3].as<std::int64_t>()}
      .to_position();
}

std::vector<Job> PostgresSource::load_jobs() {
  std::vector<Job> jobs;
  for (const pqxx::row& row :
       session_.ask("loading the jobs",
                    "select id, index, kind, position, done, total, reason, behind from {schema}.job "
                    "where pipeline = $1 order by id",
                    pipeline_)) {
    Job job;
    job.id = row[0].as<std::int64_t>();
    job.index = row[1].as<int>();
    job.kind = job_kind(row[2].c_str());
    // Empty: begun, and nothing of it acknowledged.
    if (!row[3].is_null() && row[3].size() > 0) job.position = row[3].c_str();
    job.done = row[4].as<std::int64_t>();
    if (!row[5].is_null()) job.total = row[5].as<std::int64_t>();
    job.reason = row[6].c_str();
    if (!row[7].is_null()) job.behind = row[7].as<std::int64_t>();
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::optional<std::int64_t> PostgresSource::expand(const AppliedIndex& index, const Job& job) {
  return expansion_.advance(index, job.id);
}

std::int64_t PostgresSource::dead_letters(int index) {
  return session_
      .ask("counting dead letters", "select count(*) from {schema}.dead_letter where index = $1", index)[0][0]
      .as<std::int64_t>();
}

std::vector<DeadLetter> PostgresSource::dead_letters_of(int index, const Values& ids) {
  std::vector<DeadLetter> letters;
  for (const pqxx::row& row : session_.ask("looking for dead letters", postgres_sql("load_dead_letters"),
                                           index, array_literal(ids))) {
    letters.push_back({index, row[0].c_str(), row[1].c_str(),
                       DocumentVersion::from_value(row[2].as<std::int64_t>()), row[3].as<int>(),
                       row[4].c_str(), row[5].c_str()});
  }
  return letters;
}

std::vector<StoredDeadLetter> PostgresSource::find_dead_letters(const DeadLetterFilter& filter,
                                                                const std::optional<DeadLetter>& after,
                                                                std::int64_t limit) {
  return PostgresDeadLetters(session_).find(filter, after, limit);
}

std::int64_t PostgresSource::count_dead_letters(const DeadLetterFilter& filter) {
  return PostgresDeadLetters(session_).count(filter);
}

std::int64_t PostgresSource::discard_dead_letters(const DeadLetterFilter& filter) {
  return PostgresDeadLetters(session_).discard(filter);
}

std::optional<std::string> PostgresSource::point_in_time(const std::string& text) {
  return PostgresDeadLetters(session_).point_in_time(text);
}

std::unique_ptr<SourceTransaction> PostgresSource::begin() {
  return std::make_unique<PostgresTransaction>(
      session_, pipeline_, captures_, PostgresTransaction::Access::kReadWrite, expansion_.job_in_hand());
}

std::unique_ptr<SourceTransaction> PostgresSource::begin_reading() {
  return std::make_unique<PostgresTransaction>(session_, pipeline_, captures_,
                                               PostgresTransaction::Access::kReadOnly);
}

bool PostgresSource::has_passed(const Position& place) {
  return session_
      .ask("asking how far Elasticsearch is", postgres_sql("has_passed"), pipeline_,
           PostgresPosition::from(place).prev, captures_)[0][0]
      .as<bool>();
}

bool PostgresSource::is_led() {
  return session_.ask("asking whether somebody leads", postgres_sql("is_led"), identity_)[0][0].as<bool>();
}

bool PostgresSource::is_awaited() {
  bool awaited = false;
  translating_postgres_errors("looking whether somebody waits", [&] {
    if (!awaited_) awaited_ = std::make_unique<PostgresAwaited>(session_.connection(), identity_);
    awaited = awaited_->is_awaited(std::chrono::steady_clock::now());
  });
  return awaited;
}

bool PostgresSource::may_have_changed(const Position& position) {
  const PostgresPosition at = PostgresPosition::from(position);
  if (std::exchange(changed_, false) || !at.cur.empty()) return true;
  return session_.ask("looking for changes", "select pg_current_snapshot()::text")[0][0].c_str() != at.prev;
}

bool PostgresSource::await_change(const Position& position, std::chrono::milliseconds look_every,
                                  std::chrono::milliseconds at_most) {
  using Seconds = std::chrono::duration<double>;
  const PostgresPosition at = PostgresPosition::from(position);
  changed_ = !at.cur.empty() || session_
                                    .ask("waiting for changes", "select {schema}.await_change($1, $2, $3)",
                                         at.prev, Seconds(look_every).count(), Seconds(at_most).count())[0][0]
                                    .as<bool>();
  return changed_;
}

void PostgresSource::prune() {
  const int current = session_
                          .ask("asking for the outbox's leaf",
                               "select (extract(epoch from now())::bigint / 600 % 3)::integer")[0][0]
                          .as<int>();
  for (int slot = 0; slot < kSlots; ++slot) {
    if (slot != current) prune_leaf(slot);
  }
  translating_postgres_errors("looking how large the outbox is",
                              [&] { PostgresOutboxLimit(session_).settle(); });
}

void PostgresSource::prune_leaf(int slot) {
  const std::string leaf = session_.schema() + ".outbox_" + std::to_string(slot);
  std::string passed(postgres_sql("prune_is_passed"));
  passed.replace(passed.find("{leaf}"), 6, leaf);
  passed = session_.sql(passed);
  const auto holds = [&](pqxx::transaction_base& transaction, const std::string& question) {
    return transaction.exec1(question)[0].as<bool>();
  };
  try {
    translating_postgres_errors("pruning the outbox", [&] {
      pqxx::work transaction(session_.connection());
      if (!holds(transaction, "select exists (select 1 from " + leaf + ")") || !holds(transaction, passed))
        return;
      // A writer that still has rows in this leaf holds it; whoever comes after us waits as long as we do.
      transaction.exec0("set local lock_timeout = '50ms'");
      transaction.exec0("lock table " + leaf + " in access exclusive mode");
      if (!holds(transaction, passed)) return;
      transaction.exec0("truncate " + leaf);
      transaction.commit();
    });
  } catch (const Error& error) {
    if (!error.retryable() || !session_.connection().is_open()) throw;
  }
}

bool PostgresSource::has_given_up() {
  bool given_up = false;
  translating_postgres_errors("looking whether changes were given up",
                              [&] { given_up = PostgresOutboxLimit(session_).has_given_up(); });
  return given_up;
}

bool PostgresSource::make_good() {
  bool made_good = false;
  translating_postgres_errors("making good for changes that were given up",
                              [&] { made_good = PostgresOutboxLimit(session_).make_good(); });
  if (!made_good) return false;
  for (int slot = 0; slot < kSlots; ++slot) prune_leaf(slot);
  translating_postgres_errors("looking how large the outbox is",
                              [&] { PostgresOutboxLimit(session_).settle(); });
  return true;
}

std::int64_t PostgresSource::outbox_size() {
  std::int64_t bytes = 0;
  translating_postgres_errors("looking how large the outbox is",
                              [&] { bytes = PostgresOutboxLimit(session_).outbox_size(); });
  return bytes;
}

std::vector<std::string> PostgresSource::differences_from_applied() {
  std::vector<std::string> differences;
  for (const pqxx::row& row :
       session_.ask("looking for what has changed since the last apply",
                    postgres_sql("differences_from_applied"), pipeline_, schema_name_)) {
    differences.emplace_back(row[0].c_str());
  }
  return differences;
}

void PostgresSource::publish(const PublishedStatus& status) {
  session_.ask("publishing the status", postgres_sql("publish_status"), pipeline_, status.state,
               status.reason, host_name(), static_cast<int>(getpid()), started_at_, status.document);
}

std::unique_ptr<Source> open_source(const Config& config, const std::string& purpose) {
  if (config.source.kind == SourceConfig::Kind::kSqlite) {
    throw UsageError("source.url: this build replicates from PostgreSQL only; use a postgresql:// url");
  }
  return std::make_unique<PostgresSource>(config, purpose);
}

}  // namespace lockstep
