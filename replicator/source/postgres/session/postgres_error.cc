#include "replicator/source/postgres/session/postgres_error.h"

#include <pqxx/pqxx>
#include <utility>

#include "replicator/one_line.h"

namespace lockstep {
namespace {

constexpr std::string_view kReadOnly = "25006";  // read_only_sql_transaction

// Of connections, rolled back transactions, resources and the system: conditions that may pass.
bool is_of_passing_class(std::string_view sqlstate) {
  const std::string_view code_class = sqlstate.substr(0, 2);
  return code_class == "08" || code_class == "40" || code_class == "53" || code_class == "58";
}

// idle_in_transaction_session_timeout, transaction_timeout: a session of ours has none, so they were set from
// elsewhere.
bool ends_by_timeout(std::string_view sqlstate) {
  return sqlstate == "25P03" || sqlstate == "25P04";
}

// Whether the same statement may work later, by SQLSTATE class or code.
bool worth_a_retry(std::string_view sqlstate) {
  if (sqlstate.size() != 5) return false;
  if (is_of_passing_class(sqlstate)) return true;
  // lock_not_available, query_canceled, admin_shutdown, crash_shutdown, cannot_connect_now, object_in_use,
  // idle_session_timeout
  for (const char* code : {"55P03", "57014", "57P01", "57P02", "57P03", "55006", "57P05"}) {
    if (sqlstate == code) return true;
  }
  if (ends_by_timeout(sqlstate)) return true;
  return sqlstate == kReadOnly;
}

std::string remedy_for(std::string_view sqlstate) {
  if (sqlstate == sqlstate::kInsufficientPrivilege) {
    return "grant the missing privilege (`lockstep plan` prints those of views and tracks; what a function "
           "in a view "
           "reads, the function's own role or that of `lockstep run` must be allowed to read)";
  }
  if (sqlstate == "42P01" || sqlstate == "42703" || sqlstate == "42883" || sqlstate == "3F000") {
    return "the schema has changed since the last `lockstep apply`: create the missing objects again, or run "
           "`lockstep check`, then `lockstep apply`";
  }
  if (sqlstate == sqlstate::kUntranslatable)
    return "the database's encoding lacks a character: leave it out, or use a database with the encoding "
           "UTF8";
  if (sqlstate == kReadOnly) {
    return "the server takes no writes now; is default_transaction_read_only on, or is it a standby?";
  }
  if (ends_by_timeout(sqlstate)) {
    return "a time-out of PostgreSQL has ended the session (SQLSTATE " + std::string(sqlstate) +
           "): take transaction_timeout or idle_in_transaction_session_timeout from the role, the database "
           "and what the view calls";
  }
  return {};
}

// libpq puts its question, "Is the server running on that host …?", into a line of its own behind the
// failure.
std::string failure_and_question(std::string text) {
  const std::size_t question = text.find("\n\t");
  if (question != std::string::npos) text.replace(question, 2, "; ");
  return in_one_line(text);
}

// There was no answer, so there is no code.
PostgresError unanswered(std::string_view doing, const std::string& cause, const std::string& remedy = {}) {
  return {
      {std::string(doing), failure_and_question(cause), remedy, Retry::kLater, Server::kSource}, "", cause};
}

// A data exception quotes the value: "invalid input syntax for type integer: "…"". The lines behind the first
// show the row.
std::string without_values(std::string_view sqlstate, const std::string& message) {
  const std::string_view code_class = sqlstate.substr(0, 2);
  if (code_class != "22" && code_class != "23") return in_one_line(message);
  std::string text = message.substr(0, message.find('\n'));
  if (code_class == "23") return text;
  const std::size_t begin = text.find('"');
  const std::size_t end = text.rfind('"');
  return begin == end ? text : text.replace(begin + 1, end - begin - 1, "…");
}

PostgresError refused(std::string_view doing, std::string_view sqlstate, const std::string& message) {
  const Retry retry = worth_a_retry(sqlstate) ? Retry::kLater : Retry::kNever;
  return {
      {std::string(doing), without_values(sqlstate, message), remedy_for(sqlstate), retry, Server::kSource},
      std::string(sqlstate),
      message};
}

}  // namespace

// The session's own end has no SQLSTATE, or one of class 57.
bool PostgresError::is_trouble_of_statement() const {
  return is_of_passing_class(sqlstate_);
}

PostgresError lost_connection(std::string_view doing, const std::string& last_words) {
  const std::string lost = "the connection to PostgreSQL was lost";
  if (!last_words.empty()) return unanswered(doing, lost + "; the server reported: " + last_words);
  return unanswered(doing, lost,
                    "PostgreSQL's log shows whether it has ended the session, by transaction_timeout "
                    "(SQLSTATE 25P04) for instance");
}

PostgresError no_connection(std::string_view doing, const std::string& message) {
  return unanswered(doing, message);
}

void translating_postgres_errors(std::string_view doing, const std::function<void()>& step,
                                 const std::string& last_words) {
  try {
    step();
  } catch (const pqxx::in_doubt_error&) {
    throw unanswered(
        doing,
        "the connection to PostgreSQL was lost in the commit, and it is not known whether it took "
        "effect");
  } catch (const pqxx::broken_connection&) {
    // libpqxx reports that it could not obtain the client encoding, or that it failed to connect.
    throw lost_connection(doing, last_words);
  } catch (const pqxx::insufficient_privilege& error) {
    // libpqxx leaves the SQLSTATE of this class and the next four out.
    throw refused(doing, sqlstate::kInsufficientPrivilege, error.what());
  } catch (const pqxx::serialization_failure& error) {
    throw refused(doing, sqlstate::kSerializationFailure, error.what());
  } catch (const pqxx::deadlock_detected& error) {
    throw refused(doing, sqlstate::kDeadlockDetected, error.what());
  } catch (const pqxx::statement_completion_unknown& error) {
    throw refused(doing, sqlstate::kStatementCompletionUnknown, error.what());
  } catch (const pqxx::transaction_rollback& error) {
    throw refused(doing, sqlstate::kTransactionRollback, error.what());
  } catch (const pqxx::sql_error& error) {
    throw refused(doing, error.sqlstate(), error.what());
  } catch (const pqxx::failure& error) {
    // libpqxx throws its base class for a connection that was lost unnoticed, with the reason.
    throw unanswered(doing, error.what());
  }
}

}  // namespace lockstep
