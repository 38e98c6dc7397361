// One connection to PostgreSQL: how it is opened, and the statements that it has prepared. Only the files of
// source/postgres/ and of the locks' PostgreSQL backend include libpqxx's headers.
#pragma once

#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <unordered_map>

#include "replicator/config/config.h"
#include "replicator/source/postgres/session/last_words.h"
#include "replicator/source/postgres/session/postgres_error.h"

namespace lockstep {

class PostgresSession {
 public:
  /// Connects. `purpose` becomes part of the application_name ("lockstep fs tail"). Makes the settings that
  /// Lockstep's own queries rely on: jit and enable_seqscan off, an empty search_path, the time zone UTC, and
  /// one text form for dates and floats. Throws PostgresError, UsageError for a url that libpq cannot read.
  PostgresSession(const SourceConfig& source, const std::string& purpose);

  pqxx::connection& connection() { return *connection_; }

  /// Whether the connection still stands, as far as is known.
  bool is_open() const { return connection_->is_open(); }

  /// Runs a step on the connection as translating_postgres_errors() does, with PostgreSQL's last words if it
  /// was lost. A transaction that continues after that has lost it, too.
  void translating(std::string_view doing, const std::function<void()>& step);

  /// Asks the server to cancel the statement that runs, from any thread. May come too early or too late.
  void cancel();

  /// The statement with each `{schema}` replaced by the quoted schema of the configuration.
  std::string sql(std::string_view statement) const;

  /// The configured schema, quoted if necessary.
  const std::string& schema() const { return schema_; }

  /// Prepares `statement` at its first use; returns the name under which it is prepared. Each costs memory on
  /// both sides for as long as the connection lives.
  const std::string& prepared(const std::string& statement);

  /// The same for a script, which names it in `execute`: the server knows it when this returns.
  const std::string& prepared_now(const std::string& statement);

  /// A text that was not read from this database, as the database can store it: if its encoding is not UTF-8,
  /// "?" replaces each byte that is not ASCII.
  std::string storable(std::string_view text) const;

  /// Whether the database can store every text that is UTF-8 and has no NUL.
  bool stores_utf8() const { return stores_utf8_; }

  /// Whether the server reports where its WAL ends, and which cluster it is. Some managed ones do not.
  bool tells_wal() const { return tells_wal_; }

  /// An identifier, quoted for SQL.
  std::string quote_name(std::string_view name) const;

  /// Runs a prepared statement, with `{schema}` filled in, outside of a transaction: as
  /// PostgresTransaction::run() does with Isolation::kEachStatement. Throws PostgresError; `doing` is for its
  /// message. REQUIRES: no transaction is open.
  template <typename... Parameters>
  pqxx::result ask(std::string_view doing, std::string_view statement, const Parameters&... parameters) {
    pqxx::result result;
    translating(doing, [&] {
      pqxx::nontransaction direct(*connection_);
      result = direct.exec_prepared(prepared(sql(statement)), parameters...);
    });
    return result;
  }

 private:
  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<LastWords> last_words_;  // of it
  std::string schema_;
  bool stores_utf8_ = true;
  bool tells_wal_ = true;
  std::unordered_map<std::string, std::string> prepared_;  // statement → name
};

}  // namespace lockstep
