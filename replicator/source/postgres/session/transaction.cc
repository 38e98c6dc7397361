#include "replicator/source/postgres/session/transaction.h"

#include <stdexcept>

namespace lockstep {
namespace {

std::string_view begin_statement(Isolation isolation) {
  switch (isolation) {
    case Isolation::kEachStatement:
      return "";
    case Isolation::kReadCommitted:
      return "begin";
    case Isolation::kRepeatableRead:
      return "begin isolation level repeatable read";
    case Isolation::kRepeatableReadOnly:
      return "begin isolation level repeatable read, read only";
  }
  throw std::logic_error("no such isolation");
}

}  // namespace

PostgresTransaction::PostgresTransaction(PostgresSession& session, std::string_view doing,
                                         Isolation isolation)
    : session_(session),
      doing_(doing),
      begin_(begin_statement(isolation)),
      state_(begin_.empty() ? State::kEnded : State::kNotBegun) {
  session_.translating(doing_.what,
                       [&] { statements_ = std::make_unique<pqxx::nontransaction>(session_.connection()); });
}

void PostgresTransaction::begin() {
  if (state_ != State::kNotBegun) return;
  statements_->exec(std::string(begin_));
  state_ = State::kBegun;
}

pqxx::result PostgresTransaction::execute(const Doing& doing, std::string_view script) {
  return translated(doing, [&] {
    std::string message(script);
    if (state_ == State::kNotBegun) {
      message = std::string(begin_) + "; " + message;
      state_ = State::kBegun;  // also when the script fails
    }
    return statements_->exec(message);
  });
}

const pqxx::result& PostgresTransaction::look_up(std::string_view statement, long oid) {
  const std::pair key(statement, oid);
  const auto known = looked_up_.find(key);
  return known != looked_up_.end() ? known->second
                                   : looked_up_.emplace(key, run(statement, oid)).first->second;
}

pqxx::result PostgresTransaction::run_first(const Doing& doing, const std::string& statement,
                                            std::string_view literals) {
  std::string name;
  session_.translating(doing.what, [&] { name = session_.prepared_now(statement); });
  return execute(doing, "execute " + name + "(" + std::string(literals) + ")");
}

void PostgresTransaction::commit(const Doing& doing) {
  if (state_ == State::kBegun) {
    state_ = State::kEnded;  // also when it is refused
    session_.translating(doing.what, [&] {
      try {
        statements_->exec("commit");
      } catch (const pqxx::broken_connection& error) {
        throw pqxx::in_doubt_error(error.what());
      }
    });
  }
  close();
}

void PostgresTransaction::close() noexcept {
  if (statements_ != nullptr && state_ == State::kBegun) {
    try {
      statements_->exec("rollback");
    } catch (const std::exception&) {
      // The connection is gone, and the transaction with it.
    }
  }
  state_ = State::kEnded;
  statements_.reset();
}

}  // namespace lockstep
