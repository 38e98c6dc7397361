#include "replicator/source/postgres/read/lead.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "replicator/error.h"
#include "replicator/source/postgres/session/place.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"

namespace lockstep {
namespace {

constexpr const char* kTaking = "becoming leader";
constexpr int kMostChanges = 3;

// How far the WAL is flushed. If the server does not report it, transactions count how far it has come.
constexpr const char* kTimelineOfWal = "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)";
constexpr const char* kProgressOfWal = "pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint";
constexpr const char* kProgressWithoutWal = "pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

std::int64_t random_key() {
  std::random_device random;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(random()) << 32 | random());
}

bool held_by_lockstep(const std::vector<LeadLock>& locks, std::int64_t key) {
  return std::any_of(locks.begin(), locks.end(),
                     [&](const LeadLock& lock) { return lock.key == key && lock.holder.is_lockstep; });
}

bool held_by_strangers(const std::vector<LeadLock>& locks, std::int64_t key) {
  const bool held =
      std::any_of(locks.begin(), locks.end(), [&](const LeadLock& lock) { return lock.key == key; });
  return held && !held_by_lockstep(locks, key);
}

Epoch epoch_of(const pqxx::result& row, const char* doing) {
  if (row.empty()) throw Error({doing, "the pipeline has no checkpoint", "run `lockstep apply`"});
  return Epoch{stored<std::int64_t>(row[0][0], "checkpoint")};
}

}  // namespace

bool PostgresLead::try_lead() {
  require_primary();
  // A process that changes the number again and again is not worth an endless loop: the caller tries again
  // anyway.
  for (int i = 0; i < kMostChanges; ++i) {
    const Outcome outcome = attempt();
    if (outcome != Outcome::kKeyChanged) return outcome == Outcome::kLeading;
  }
  return false;
}

bool PostgresLead::is_led() {
  return lockstep::is_led(locks());
}

void PostgresLead::require_primary() {
  if (!session_.ask("asking whether the source is a standby", "select pg_is_in_recovery()")[0][0].as<bool>())
    return;
  throw Error({kTaking, "the source is a standby",
               "let source.url name the primary (a standby cannot show which transactions are still running)",
               Retry::kLater, Server::kSource});
}

PostgresLead::Outcome PostgresLead::attempt() {
  const Keys keys = this->keys();
  const bool has_first = take(keys.first);
  if (keys.current == keys.first && !has_first) return change(keys);
  // D2
  if (!has_first && held_by_lockstep(locks(), keys.first)) return Outcome::kStandingBy;
  const bool has_current = keys.current == keys.first || take(keys.current);
  if (has_current && is_in_force(keys.current)) return Outcome::kLeading;
  if (has_first) let_go(keys.first);
  if (keys.current != keys.first && has_current) let_go(keys.current);
  return has_current ? Outcome::kStandingBy : change(keys);
}

PostgresLead::Keys PostgresLead::keys() {
  const pqxx::result row =
      session_.ask(kTaking, postgres_sql("lead_keys"), pipeline_.id(), pipeline_.applied.identity);
  if (row.empty()) throw Error({kTaking, "the pipeline has no checkpoint", "run `lockstep apply`"});
  return {row[0][0].as<std::int64_t>(), row[0][1].as<std::int64_t>()};
}

std::vector<LeadLock> PostgresLead::locks() {
  PostgresTransaction direct(session_, "looking for the leader", Isolation::kEachStatement);
  return lead_locks(direct, pipeline_.applied.identity);
}

bool PostgresLead::take(std::int64_t key) {
  return session_.ask(kTaking, "select pg_try_advisory_lock($1)", key)[0][0].as<bool>();
}

void PostgresLead::let_go(std::int64_t key) {
  session_.ask(kTaking, "select pg_advisory_unlock($1)", key);
}

bool PostgresLead::is_in_force(std::int64_t key) {
  return !session_
              .ask(kTaking,
                   "select from {schema}.checkpoint where pipeline = $1 and coalesce(lead_key, "
                   "hashtextextended($2::text, 0)) = $3 for share",
                   pipeline_.id(), pipeline_.applied.identity, key)
              .empty();
}

PostgresLead::Outcome PostgresLead::change(const Keys& keys) {
  if (!held_by_strangers(locks(), keys.current)) return Outcome::kStandingBy;
  PostgresTransaction transaction(session_, "changing the number of the lead's lock");
  transaction.run("select from {schema}.checkpoint where pipeline = $1 for update", pipeline_.id());
  const std::vector<LeadLock> locks = lead_locks(transaction, pipeline_.applied.identity);
  if (!held_by_strangers(locks, keys.current)) return Outcome::kStandingBy;
  const pqxx::result changed = transaction.run(
      "update {schema}.checkpoint set lead_key = $3 where pipeline = $1 and coalesce(lead_key, "
      "hashtextextended($2::text, 0)) = $4",
      pipeline_.id(), pipeline_.applied.identity, random_key(), keys.current);
  if (changed.affected_rows() == 0) return Outcome::kKeyChanged;
  transaction.commit();
  for (const LeadLock& lock : locks) {
    if (!lock.holder.is_lockstep) spdlog::warn("{}; the lead has another lock now", in_words(lock.holder));
  }
  return Outcome::kKeyChanged;
}

// Under the name that the last leader knew, if it knew this database: it may have been allowed to know more
// of it, or less.
SourceIdentity PostgresLead::identity() {
  const std::string statement =
      statement_with_place(session_, "identify_source",
                           {{"timeline", session_.tells_wal() ? kTimelineOfWal : "''"},
                            {"progress", session_.tells_wal() ? kProgressOfWal : kProgressWithoutWal}});
  const pqxx::row row = session_.ask("asking for the source's identity", statement, pipeline_.id())[0];
  const PostgresPlace here{row[0].c_str(), row[1].c_str()};
  const PostgresPlace known{row[2].c_str(), row[3].c_str()};
  return {is_same(known, here) ? known.name : here.name, row[4].c_str(), row[5].as<std::int64_t>(),
          row[6].c_str()};
}

Epoch PostgresLead::epoch() {
  constexpr const char* kDoing = "loading the epoch";
  return epoch_of(
      session_.ask(kDoing, "select epoch from {schema}.checkpoint where pipeline = $1", pipeline_.id()),
      kDoing);
}

KnownPartners PostgresLead::known_partners() {
  const pqxx::result row = session_.ask(
      "loading the identities of both sides",
      "select partners::text as partners from {schema}.checkpoint where pipeline = $1", pipeline_.id());
  return row.empty() ? KnownPartners{} : partners_in(stored<std::string>(row[0][0], "checkpoint"));
}

Epoch PostgresLead::raise_epoch(Epoch at_least, const KnownPartners& partners) {
  constexpr const char* kDoing = "raising the epoch";
  return epoch_of(session_.ask(kDoing, statement_with_place(session_, "raise_epoch"), pipeline_.id(),
                               at_least.value, partners.place, targets_text(partners)),
                  kDoing);
}

void PostgresLead::note_quiet(Epoch epoch, bool landed) {
  session_.ask("noting that nothing is on its way",
               "update {schema}.checkpoint "
               "set partners = partners || jsonb_build_object('quiet', true, 'landed', $3::boolean) "
               "where pipeline = $1 and epoch = $2",
               pipeline_.id(), epoch.value, landed);
}

}  // namespace lockstep
