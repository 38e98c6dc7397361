#include "replicator/source/postgres/read/outbox_care.h"

#include <spdlog/spdlog.h>

#include <functional>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/catalog/differences.h"
#include "replicator/source/postgres/read/lead_holders.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

void PostgresOutboxCare::prune() {
  for (const Leaf& leaf : leaves()) {
    if (!leaf.is_written) empty(leaf);
  }
  limit_.allow_full_again();
}

bool PostgresOutboxCare::resume() {
  if (!limit_.resume()) return false;
  for (const Leaf& leaf : leaves()) empty(leaf);
  limit_.allow_full_again();
  return true;
}

std::vector<PostgresOutboxCare::Leaf> PostgresOutboxCare::leaves() {
  std::vector<Leaf> leaves;
  for (const pqxx::row& row : session_.ask("asking for the outbox's leaves", postgres_sql("outbox_leaves"))) {
    leaves.push_back({session_.schema() + "." + row[0].c_str(), row[1].as<bool>()});
  }
  return leaves;
}

void PostgresOutboxCare::empty(const Leaf& leaf) {
  const std::string is_passed =
      fill_placeholders(postgres_sql("leaf_is_passed"), {{"schema", session_.schema()}, {"leaf", leaf.name}});
  try {
    PostgresTransaction transaction(session_, "pruning the outbox");
    const auto holds = [&](const std::string& question) {
      return transaction.run_once(question)[0][0].as<bool>();
    };
    if (!holds("select exists (select 1 from " + leaf.name + ")") || !holds(is_passed)) return;
    // A writer that still has rows in this leaf holds it; whoever comes after us waits as long as we do.
    transaction.execute("set local lock_timeout = '50ms'");
    transaction.execute("lock table " + leaf.name + " in access exclusive mode");
    if (!holds(is_passed)) return;
    transaction.execute("truncate " + leaf.name);
    transaction.commit();
  } catch (const PostgresError& error) {
    if (!error.retryable() || !session_.is_open()) throw;
  }
}

std::vector<std::string> PostgresOutboxCare::follow_parts_of(const std::string& table,
                                                             const std::string& function) {
  PostgresTransaction transaction(session_, "following the parts of " + table);
  transaction.execute("set transaction isolation level read committed");
  std::vector<std::string> lines;
  for (const pqxx::row& row : transaction.run_once("select " + function + "()"))
    lines.emplace_back(row[0].c_str());
  transaction.commit();
  return lines;
}

std::vector<std::string> PostgresOutboxCare::follow_parts() {
  std::vector<std::string> lines;
  std::map<std::string, std::string> unfollowed;
  const auto attempt = [&](const std::string& tables, const std::function<void()>& step) {
    try {
      step();
    } catch (const PostgresError& error) {
      if (!session_.is_open()) throw;
      if (error.retryable()) return;  // somebody uses the part
      unfollowed[tables] = error.what();
      if (unfollowed_[tables] == error.what()) return;
      spdlog::warn(
          "parts of {} that have come or gone are not followed: {}; `lockstep check` names a right that is "
          "missing, `lockstep apply` does the rest",
          tables, error.what());
    }
  };
  pqxx::result changed;
  attempt("tables", [&] {
    changed = session_.ask("looking for parts of tables", postgres_sql("find_changed_parts"), pipeline_.id(),
                           schema_name_);
  });
  for (const pqxx::row& row : changed) {
    const std::string table = row[0].c_str();
    if (row[1].is_null()) continue;  // an older lockstep has applied it: its triggers are missed, and named
    attempt(table, [&] {
      for (std::string& line : follow_parts_of(table, row[1].c_str())) lines.push_back(std::move(line));
    });
  }
  unfollowed_ = std::move(unfollowed);
  return lines;
}

std::vector<std::string> PostgresOutboxCare::differences_from_applied() {
  try {
    PostgresTransaction transaction(session_, "looking for what has changed since the last apply");
    transaction.execute("set local lock_timeout = '100ms'");
    std::vector<std::string> differences;
    for (Difference& difference :
         lockstep::differences_from_applied(transaction, pipeline_.id(), schema_name_))
      differences.push_back(std::move(difference.text));
    known_differences_ = std::move(differences);
  } catch (const PostgresError& error) {
    // Somebody is changing a table or a view at this moment.
    if (error.sqlstate() != sqlstate::kLockNotAvailable) throw;
  }
  std::vector<std::string> differences = known_differences_;
  for (const pqxx::row& row : session_.ask("looking for rights that are lent", postgres_sql("rights_at_risk"),
                                           pipeline_.id(), schema_name_)) {
    differences.emplace_back(row[0].c_str());
  }
  PostgresTransaction direct(session_, "asking who holds the lead", Isolation::kEachStatement);
  for (const LeadLock& lock : lead_locks(direct, pipeline_.applied.identity)) {
    if (!lock.holder.is_lockstep) differences.push_back(in_words(lock.holder));
  }
  return differences;
}

}  // namespace lockstep
