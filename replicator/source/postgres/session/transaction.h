// How statements run on a session: in a transaction, or each on its own. Nothing here throws libpqxx's
// exceptions; a refused statement leaves as a PostgresError.
//
//   PostgresTransaction transaction(session, "reading the plan");
//   transaction.run("update {schema}.job set done = $2 where id = $1", job, done);
//   transaction.commit();
#pragma once

#include <map>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <utility>

#include "replicator/source/postgres/session/postgres_error.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// The current step, for the message of an error: "opening a batch".
struct Doing {
  std::string what;
  explicit Doing(std::string_view text) : what(text) {}
};

enum class Isolation {
  kEachStatement,  ///< no transaction: each statement commits by itself
  kReadCommitted,
  kRepeatableRead,
  kRepeatableReadOnly,
};

/// At most one is open on a session at a time. Destroying it without commit() rolls it back.
///
/// `begin` travels with the first script of execute(): a round trip costs as much as a small query. Before
/// any other statement it is a message of its own.
///
/// Most functions have a form with a Doing; the other form takes the transaction's own.
class PostgresTransaction {
 public:
  /// Opens it. `session` must outlive it. Throws Error.
  PostgresTransaction(PostgresSession& session, std::string_view doing,
                      Isolation isolation = Isolation::kReadCommitted);
  ~PostgresTransaction() { close(); }
  PostgresTransaction(const PostgresTransaction&) = delete;
  PostgresTransaction& operator=(const PostgresTransaction&) = delete;

  PostgresSession& session() { return session_; }

  /// Prepares the statement at its first use, with `{schema}` filled in, and runs it. For statements that
  /// come back often. Throws PostgresError.
  template <typename... Parameters>
  pqxx::result run(const Doing& doing, std::string_view statement, const Parameters&... parameters) {
    return run_filled(doing, session_.sql(statement), parameters...);
  }
  template <typename... Parameters>
  pqxx::result run(std::string_view statement, const Parameters&... parameters) {
    return run(doing_, statement, parameters...);
  }

  /// As run(), for a statement whose placeholders are filled already.
  template <typename... Parameters>
  pqxx::result run_filled(const Doing& doing, const std::string& statement, const Parameters&... parameters) {
    return translated(doing, [&] {
      begin();
      return statements_->exec_prepared(session_.prepared(statement), parameters...);
    });
  }

  /// As run(), for one object's catalogue entries: a second time the first answer is given. REQUIRES:
  /// `statement` outlives this, and nothing that runs in it changes that object.
  const pqxx::result& look_up(std::string_view statement, long oid);

  /// As run_filled(), with parameters that are literals: a first statement takes `begin` along. Throws
  /// PostgresError.
  pqxx::result run_first(const Doing& doing, const std::string& statement, std::string_view literals);

  /// Runs one statement as it is, planned for these parameters. A second one behind a semicolon is an error.
  /// Throws PostgresError.
  template <typename... Parameters>
  pqxx::result run_once(const Doing& doing, std::string_view statement, const Parameters&... parameters) {
    return translated(doing, [&] {
      begin();
      return statements_->exec_params(std::string(statement), parameters...);
    });
  }
  template <typename... Parameters>
  pqxx::result run_once(std::string_view statement, const Parameters&... parameters) {
    return run_once(doing_, statement, parameters...);
  }

  /// Runs any number of statements as they are, in one message; returns the result of the last one. Throws
  /// PostgresError.
  pqxx::result execute(const Doing& doing, std::string_view script);
  pqxx::result execute(std::string_view script) { return execute(doing_, script); }

  /// Call it after a write that must not be lost: the transaction would otherwise be rolled back as a mere
  /// reading.
  void note_write() { has_written_ = true; }
  bool has_written() const { return has_written_; }

  /// Throws PostgresError. If the connection is lost meanwhile, it may or may not have committed.
  void commit(const Doing& doing);
  void commit() { commit(doing_); }

  /// Ends it: rolls back uncommitted work. Nothing runs in it after that.
  void close() noexcept;

  /// A text as a literal.
  std::string quote(std::string_view text) const { return statements_->quote(std::string(text)); }

 private:
  template <typename Step>
  pqxx::result translated(const Doing& doing, const Step& step) {
    pqxx::result result;
    session_.translating(doing.what, [&] { result = step(); });
    return result;
  }

  enum class State {
    kNotBegun,
    kBegun,
    kEnded,  // or each statement commits by itself
  };

  void begin();

  PostgresSession& session_;
  const Doing doing_;
  const std::string_view begin_;  // the statement that begins it
  State state_;
  bool has_written_ = false;
  std::map<std::pair<std::string_view, long>, pqxx::result> looked_up_;
  std::unique_ptr<pqxx::nontransaction> statements_;  // null: closed
};

}  // namespace lockstep
