#include "replicator/locks/backends/postgres/lock_rows.h"

#include <algorithm>
#include <iterator>

#include "replicator/error.h"
#include "replicator/locks/backends/postgres/values.h"
#include "replicator/locks/stored_value.h"

namespace lockstep {
namespace {

/// An index entry has at most 2,704 bytes; one index has the holder's name too. Longer names are stored as
/// their beginning and a hash.
constexpr std::size_t kMaxNameBytes = 2'400;

std::string stored_name(const LockName& name) {
  return shortened_name(name, kMaxNameBytes);
}

std::string stored_names(const LockSet& locks) {
  std::vector<std::string> names;
  for (const LockRequest& request : locks) names.push_back(stored_name(request.name));
  return array_literal(names);
}

std::string stored_names(const LockSet& locks, LockMode mode) {
  LockSet some;
  std::copy_if(locks.begin(), locks.end(), std::back_inserter(some),
               [&](const LockRequest& request) { return request.mode == mode; });
  return stored_names(some);
}

const std::string kLockColumns =
    "l.name, l.mode, l.holders::text, array(select " + milliseconds_sql("u.until") +
    " from unnest(l.until) with ordinality as u(until, place) order by u.place)::text,"
    " l.waiting::text, array(select " +
    milliseconds_sql("u.until") +
    " from unnest(l.waiting_until) with ordinality as u(until, place) order by u.place)::text";

/// Of two arrays: names, and ends in milliseconds.
std::vector<LockHolder> lock_holders(const pqxx::field& names, const pqxx::field& ends) {
  std::vector<LockHolder> holders;
  const std::vector<std::string> until = parse_array(ends.c_str());
  for (std::string& name : parse_array(names.c_str())) {
    holders.push_back(
        {std::move(name), ServerTime(std::chrono::milliseconds(std::stoll(until.at(holders.size()))))});
  }
  return holders;
}

LockState lock_state(const pqxx::row& row) {
  LockState state{LockName::as_stored(row[0].c_str())};
  state.mode = stored_mode(state.name.text(), row[1].c_str());
  state.holders = lock_holders(row[2], row[3]);
  state.count = static_cast<std::int64_t>(state.holders.size());
  state.waiting = lock_holders(row[4], row[5]);
  return state;
}

}  // namespace

ServerTime PostgresLockRows::now() {
  const std::string statement = "select " + milliseconds_sql("clock_timestamp()");
  return server_time(session_.run("reading the server's clock", statement)[0][0]);
}

std::optional<Refusal> PostgresLockRows::acquire_all(const LockSet& locks, const Grant& grant) {
  static const std::string statement =
      "select " + kLockColumns + ", l.queued, l.ahead, " + milliseconds_sql("l.at") +
      " from {schema}.acquire($1, $2::text[], $3::text[], $4::bigint * interval '1 millisecond',"
      " $5::bigint * interval '1 millisecond', $6::text[]) as l";
  const pqxx::result rows =
      session_.run("taking locks", statement, grant.holder, stored_names(locks, LockMode::kShared),
                   stored_names(locks, LockMode::kExclusive), grant.lease.count(), grant.place.count(),
                   array_literal(grant.under));
  if (rows.empty()) return std::nullopt;
  Refusal refusal{lock_state(rows[0]), server_time(rows[0][8]), rows[0][6].as<bool>()};
  if (!rows[0][7].is_null()) refusal.ahead = rows[0][7].as<std::size_t>();
  std::erase_if(refusal.lock.waiting, [&](const LockHolder& each) { return each.id == grant.holder; });
  return refusal;
}

std::optional<Refusal> PostgresLockRows::acquire_again(const LockSet& locks, const LockName&,
                                                       const Grant& grant) {
  return acquire_all(locks, grant);
}

std::optional<Refusal> PostgresLockRows::acquire_one(const LockRequest& request, const Grant& grant) {
  return acquire_all({request}, grant);
}

void PostgresLockRows::release(const LockSet& locks, const Leave& leave) {
  session_.run("releasing locks", "select {schema}.release($1, $2::text[], only_expired => $3::boolean)",
               leave.holder, stored_names(locks), leave.only_expired);
}

std::optional<LockName> PostgresLockRows::renew(const LockSet& locks, const std::string& holder,
                                                std::chrono::milliseconds) {
  const pqxx::result rows = session_.run(
      "looking at locks",
      "select place from unnest($1::text[]) with ordinality as wanted(name, place) where not exists"
      " (select from {schema}.holder as h where h.name = wanted.name and h.holder = $2) order by place limit "
      "1",
      stored_names(locks), holder);
  if (rows.empty()) return std::nullopt;
  return locks.at(rows[0][0].as<std::size_t>() - 1).name;
}

void PostgresLockRows::downgrade(const LockName& name, const std::string& holder) {
  session_.run(
      "downgrading a lock",
      "update {schema}.holder set mode = 'shared' where name = $1 and holder = $2 and mode <> 'shared'",
      stored_name(name), holder);
}

std::optional<LockState> PostgresLockRows::find(const LockName& name) {
  static const std::string statement =
      "select " + kLockColumns + " from {schema}.locks as l where l.name = $1";
  const pqxx::result rows = session_.run("reading the lock " + name.text(), statement, stored_name(name));
  if (rows.empty()) return std::nullopt;
  LockState state = lock_state(rows[0]);
  state.name = name;
  if (state.holders.empty()) return std::nullopt;
  return state;
}

std::vector<LockState> PostgresLockRows::all(const Unreadable& unreadable) {
  static const std::string statement = "select " + kLockColumns +
                                       " from {schema}.locks as l where cardinality(l.holders) > 0"
                                       " order by l.name";
  std::vector<LockState> locks;
  for (const pqxx::row& row : session_.run("reading the locks", statement)) {
    try {
      locks.push_back(lock_state(row));
    } catch (const Error& error) {
      unreadable(error);
    }
  }
  return locks;
}

void PostgresLockRows::prune() {
  session_.run("removing expired waiters",
               "delete from {schema}.waiter as w using (select name, holder from {schema}.waiter"
               " where until < clock_timestamp() for update skip locked) as gone"
               " where w.name = gone.name and w.holder = gone.holder and w.until < clock_timestamp()");
  // A session that takes a lock meanwhile has its row locked.
  session_.run("removing unused locks",
               "delete from {schema}.lock as l using (select name from {schema}.lock as d"
               " where not exists (select from {schema}.holder as h where h.name = d.name)"
               " and not exists (select from {schema}.waiter as w where w.name = d.name)"
               " order by d.name for update skip locked) as gone where l.name = gone.name"
               " and not exists (select from {schema}.holder as h where h.name = l.name)"
               " and not exists (select from {schema}.waiter as w where w.name = l.name)");
}

}  // namespace lockstep
