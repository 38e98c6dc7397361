#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {
namespace {

std::unique_ptr<pqxx::transaction_base> open(pqxx::connection& connection, Isolation isolation) {
  using ReadOnly = pqxx::transaction<pqxx::repeatable_read, pqxx::readwrite_policy::read_only>;
  switch (isolation) {
    case Isolation::kEachStatement:
      return std::make_unique<pqxx::nontransaction>(connection);
    case Isolation::kReadCommitted:
      return std::make_unique<pqxx::work>(connection);
    case Isolation::kRepeatableRead:
      return std::make_unique<pqxx::transaction<pqxx::repeatable_read>>(connection);
    case Isolation::kRepeatableReadOnly:
      return std::make_unique<ReadOnly>(connection);
  }
  throw std::logic_error("no such isolation");
}

}  // namespace

PostgresTransaction::PostgresTransaction(PostgresSession& session, std::string_view doing,
                                         Isolation isolation)
    : session_(session), doing_(doing) {
  session_.translating(doing_.what, [&] { transaction_ = open(session_.connection(), isolation); });
}

pqxx::result PostgresTransaction::execute(const Doing& doing, std::string_view script) {
  return translated(doing, [&] { return transaction_->exec(std::string(script)); });
}

void PostgresTransaction::commit(const Doing& doing) {
  session_.translating(doing.what, [&] { transaction_->commit(); });
}

}  // namespace lockstep
