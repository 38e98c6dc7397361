// Complaints of PostgreSQL or libpqxx, as an Error. This is the one place that catches libpqxx's exceptions;
// it judges them by SQLSTATE (PostgreSQL manual, appendix A), never by their text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "replicator/error.h"

namespace lockstep {

namespace sqlstate {
inline constexpr std::string_view kDeadlockDetected = "40P01";
inline constexpr std::string_view kInsufficientPrivilege = "42501";
inline constexpr std::string_view kLockNotAvailable = "55P03";
inline constexpr std::string_view kNotInRepertoire = "22021";
inline constexpr std::string_view kQueryCanceled = "57014";
inline constexpr std::string_view kSerializationFailure = "40001";
inline constexpr std::string_view kStatementCompletionUnknown = "40003";
inline constexpr std::string_view kTransactionRollback = "40000";
inline constexpr std::string_view kUntranslatable = "22P05";
}  // namespace sqlstate

/// The server refused a statement, or the connection is lost. Retryable after a lost connection, for a server
/// that starts or stops, after serialization failures and lock time-outs, and for lack of resources.
class PostgresError : public Error {
 public:
  PostgresError(Parts parts, std::string sqlstate, std::string message)
      : Error(std::move(parts)), sqlstate_(std::move(sqlstate)), message_(std::move(message)) {}

  /// Empty: the server sent none, because the connection is lost.
  const std::string& sqlstate() const { return sqlstate_; }

  /// Whether the data given to the server was at fault, such as a text that is no number (class 22).
  bool is_data_exception() const { return sqlstate_.starts_with("22"); }

  /// Whether the server has rolled the transaction back, after a deadlock for instance (class 40).
  bool is_rollback() const { return sqlstate_.starts_with("40"); }

  /// Whether the statement has met a condition that may pass (a deadlock, a limit of the server, a foreign
  /// server that is away) while the session continues. It may come again with each reading of one row.
  bool is_trouble_of_statement() const;

  /// libpqxx's text, with the server's lines for details, hints and the position in the statement.
  const std::string& message() const { return message_; }

 private:
  std::string sqlstate_;
  std::string message_;
};

/// Runs `step`; libpqxx's exceptions leave as a PostgresError. `doing` is a phrase such as "opening a batch".
/// `last_words` is PostgreSQL's message when it ended the connection, if known; it is read after a failure.
void translating_postgres_errors(std::string_view doing, const std::function<void()>& step,
                                 const std::string& last_words = {});

/// The connection ended before the step was over. `last_words` as above; empty: there are none.
PostgresError lost_connection(std::string_view doing, const std::string& last_words);

/// No connection came about; `message` has the reason.
PostgresError no_connection(std::string_view doing, const std::string& message);

}  // namespace lockstep
