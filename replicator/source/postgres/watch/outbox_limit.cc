#include "replicator/source/postgres/watch/outbox_limit.h"

#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

// The lock of capture_state: this number and the sequence's oid.
constexpr const char* kLock = "(1280262987, s.tableoid::integer) from {schema}.capture_state as s";

}  // namespace

bool PostgresOutboxLimit::has_given_up() {
  pqxx::nontransaction direct(session_.connection());
  const State now = state(direct);
  return now == State::kFull || now == State::kResumed;
}

// Transactions that leave something out hold the lock until they end, and are visible to whoever gets it
// after them; none begins to while the state is kResumed. So the snapshots of the comparisons, which are
// younger, see everything that was left out.
bool PostgresOutboxLimit::make_good() {
  {
    pqxx::nontransaction direct(session_.connection());
    if (state(direct) == State::kFull) set_state(direct, State::kResumed);
    if (!try_lock(direct)) return false;
    if (state(direct) != State::kResumed) {
      unlock(direct);
      return false;
    }
  }
  // An error ends the connection, and the lock with it.
  pqxx::work transaction(session_.connection());
  transaction.exec0(session_.sql(postgres_sql("make_good")));
  transaction.commit();
  pqxx::nontransaction direct(session_.connection());
  set_state(direct, State::kMadeGood);
  unlock(direct);
  return true;
}

void PostgresOutboxLimit::settle() {
  pqxx::nontransaction direct(session_.connection());
  if (state(direct) != State::kMadeGood || !try_lock(direct)) return;
  const bool is_small =
      direct
          .exec1(session_.sql("select coalesce((" + std::string(postgres_sql("outbox_size")) +
                              ") < (select min(max_outbox_size) from {schema}.pipeline), true)"))[0]
          .as<bool>();
  if (is_small && state(direct) == State::kMadeGood) set_state(direct, State::kWriting);
  unlock(direct);
}

std::int64_t PostgresOutboxLimit::outbox_size() {
  pqxx::nontransaction direct(session_.connection());
  return direct.exec1(session_.sql(postgres_sql("outbox_size")))[0].as<std::int64_t>();
}

PostgresOutboxLimit::State PostgresOutboxLimit::state(pqxx::transaction_base& transaction) {
  return static_cast<State>(
      transaction.exec1(session_.sql("select last_value from {schema}.capture_state"))[0].as<int>());
}

void PostgresOutboxLimit::set_state(pqxx::transaction_base& transaction, State state) {
  transaction.exec1(session_.sql("select setval(s.tableoid, " + std::to_string(static_cast<int>(state)) +
                                 ") from {schema}.capture_state as s"));
}

bool PostgresOutboxLimit::try_lock(pqxx::transaction_base& transaction) {
  return transaction.exec1(session_.sql(std::string("select pg_try_advisory_lock") + kLock))[0].as<bool>();
}

void PostgresOutboxLimit::unlock(pqxx::transaction_base& transaction) {
  transaction.exec1(session_.sql(std::string("select pg_advisory_unlock") + kLock));
}

}  // namespace lockstep
