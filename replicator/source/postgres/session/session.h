// One connection to PostgreSQL: how it is opened, and how libpqxx's errors become ours. The only family of
// files that includes pqxx headers is source/postgres_*.
#pragma once

#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <unordered_map>

#include "replicator/config/config.h"

namespace lockstep {

class PostgresSession {
 public:
  /// Connects. `purpose` becomes the application_name ("lockstep fs: tail"). Settings that lockstep's own
  /// queries rely on are made: jit and enable_seqscan off, an empty search_path, ISO dates, UTC-independent
  /// text forms. Throws Error: kLater when the server is away or starting, kNever when it refuses us.
  PostgresSession(const SourceConfig& source, const std::string& purpose);

  pqxx::connection& connection() { return *connection_; }

  /// `{schema}` in a statement replaced by the quoted schema of the configuration.
  std::string sql(std::string_view statement) const;

  /// The configured schema, quoted where it must be.
  const std::string& schema() const { return schema_; }

  /// The name of `statement` as a prepared one, which it becomes at its first use. For statements that come
  /// back often; each costs memory on both sides for as long as the connection lives.
  const std::string& prepared(const std::string& statement);

  /// An identifier, quoted for SQL.
  std::string quote_name(std::string_view name) const;

  /// Runs a prepared statement, with `{schema}` filled in, outside of a transaction. Throws Error; `doing` is
  /// for its message.
  template <typename... Parameters>
  pqxx::result ask(std::string_view doing, std::string_view statement, const Parameters&... parameters);

 private:
  std::unique_ptr<pqxx::connection> connection_;
  std::string schema_;
  std::unordered_map<std::string, std::string> prepared_;  // statement → name
};

/// Runs `step`; what libpqxx throws leaves as an Error, by SQLSTATE: kLater for a lost connection, a server
/// that starts or stops, serialization failures, lock time-outs and lack of resources; kNever for the rest,
/// with the GRANT as the remedy where a privilege is missing. `doing` is a phrase such as "opening a batch".
void translating_postgres_errors(std::string_view doing, const std::function<void()>& step);

template <typename... Parameters>
pqxx::result PostgresSession::ask(std::string_view doing, std::string_view statement,
                                  const Parameters&... parameters) {
  pqxx::result result;
  translating_postgres_errors(doing, [&] {
    pqxx::nontransaction direct(*connection_);
    result = direct.exec_prepared(prepared(sql(statement)), parameters...);
  });
  return result;
}

}  // namespace lockstep
