#include "replicator/source/postgres/read/outbox_limit.h"

#include <string>

#include "replicator/error.h"
#include "replicator/source/outbox/full_outbox.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {
namespace {

constexpr const char* kDoing = "looking whether changes are captured";
constexpr const char* kResuming = "enabling capture again";

}  // namespace

bool PostgresOutboxLimit::has_given_up() {
  const State now = state();
  return now == State::kFull || now == State::kResumed;
}

bool PostgresOutboxLimit::is_full() {
  return state() == State::kFull;
}

bool PostgresOutboxLimit::is_over_on_disk() {
  return session_.ask(kDoing, "select o.on_disk from {schema}.outbox_is_over() as o")[0][0].as<bool>();
}

void PostgresOutboxLimit::capture_again() {
  set_state(State::kResumed);
}

void PostgresOutboxLimit::skip_pending() {
  PostgresTransaction transaction(session_, kResuming);
  transaction.run(postgres_sql("skip_pending"), std::string(kOutboxWasFull));
  transaction.commit();
}

// A transaction that leaves a change out holds the lock until it ends, and the next holder of the lock sees
// its writes. None begins to leave changes out while the state is kResumed; a transaction that finds the
// outbox full again needs the lock, too. So the snapshots of the comparisons, which are younger, see
// everything that was left out.
bool PostgresOutboxLimit::resume() {
  if (!try_lock()) return false;
  if (state() != State::kResumed) {
    unlock();
    return false;
  }
  skip_pending();  // an error ends the connection, and the lock with it
  set_state(State::kCapturing);
  unlock();
  return true;
}

std::int64_t PostgresOutboxLimit::outbox_size() {
  return session_.ask("asking how large the outbox is", postgres_sql("outbox_size"))[0][0].as<std::int64_t>();
}

PostgresOutboxLimit::State PostgresOutboxLimit::state() {
  const pqxx::result row = session_.ask(kDoing, "select last_value from {schema}.capture_state");
  const auto value = row[0][0].as<std::int64_t>();
  for (const State known : {State::kCapturing, State::kFull, State::kResumed, State::kEmptying}) {
    if (value == static_cast<std::int64_t>(known)) return known;
  }
  throw Error(
      {kDoing,
       "the sequence capture_state is at " + std::to_string(value) + ", which this lockstep does not know",
       "install the version of lockstep that wrote it, or a newer one"});
}

void PostgresOutboxLimit::set_state(State state) {
  session_.ask(kResuming, "select setval(s.tableoid, $1) from {schema}.capture_state as s",
               static_cast<int>(state));
}

// The lock has two numbers: Lockstep's own and the oid of the sequence.
bool PostgresOutboxLimit::try_lock() {
  return session_
      .ask(kResuming,
           "select pg_try_advisory_lock(1280262987, s.tableoid::integer) from {schema}.capture_state as s")[0]
                                                                                                           [0]
      .as<bool>();
}

void PostgresOutboxLimit::unlock() {
  session_.ask(kResuming,
               "select pg_advisory_unlock(1280262987, s.tableoid::integer) from {schema}.capture_state as s");
}

}  // namespace lockstep
