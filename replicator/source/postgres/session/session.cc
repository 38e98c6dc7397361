#include "replicator/source/postgres/session/session.h"

#include <libpq-fe.h>

#include <map>
#include <utility>

#include "replicator/error.h"

namespace lockstep {
namespace {

// jit costs more than it saves on queries of milliseconds; sequential scans of the outbox come from
// statistics that are always stale there. Dates and floats get one text form whatever the role's defaults
// are.
constexpr const char* kSessionSettings = R"sql(
set jit = off;
set enable_seqscan = off;
set search_path = '';
set timezone = 'UTC';
set datestyle = 'ISO';
set intervalstyle = 'postgres';
set extra_float_digits = 1;
set bytea_output = 'hex';
set standard_conforming_strings = on;
set idle_in_transaction_session_timeout = 0;
set statement_timeout = 0;
set synchronous_commit = on;
set default_transaction_isolation = 'read committed';
)sql";

std::string quoted_for_conninfo(const std::string& value) {
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// What the url says, and our own settings where it says nothing, as libpq's keyword/value string.
std::string connection_string(const SourceConfig& source, const std::string& purpose) {
  std::map<std::string, std::string> parameters = {
      {"application_name", "lockstep " + purpose},
      {"keepalives_idle", "10"},
      {"keepalives_interval", "5"},
      {"keepalives_count", "3"},
      {"connect_timeout", "10"},
  };
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(source.url.c_str(), &message), PQconninfoFree);
  if (!options) {
    // libpq's message quotes the url, which may hold a password.
    PQfreemem(message);
    throw UsageError(
        "source.url is not a PostgreSQL connection url; an example is postgresql://lockstep@/shop");
  }
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) parameters[option->keyword] = option->val;
  }
  if (!source.password.empty()) parameters["password"] = source.password.value();
  parameters["client_encoding"] = "UTF8";
  std::string text;
  for (const auto& [keyword, value] : parameters) text += keyword + "=" + quoted_for_conninfo(value) + " ";
  return text;
}

// What to try again, by SQLSTATE class or code (PostgreSQL manual, appendix A).
bool worth_a_retry(const std::string& sqlstate) {
  if (sqlstate.size() != 5) return false;
  const std::string code_class = sqlstate.substr(0, 2);
  if (code_class == "08" || code_class == "40" || code_class == "53" || code_class == "58") return true;
  // lock_not_available, query_canceled, admin_shutdown, crash_shutdown, cannot_connect_now, object_in_use,
  // idle_session_timeout
  for (const char* code : {"55P03", "57014", "57P01", "57P02", "57P03", "55006", "57P05"}) {
    if (sqlstate == code) return true;
  }
  return false;
}

// libpq's messages have lines for details, hints and the place in the statement.
std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool space = c == '\n' || c == '\t' || c == ' ';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string remedy_for(const std::string& sqlstate) {
  if (sqlstate == "42501") return "grant the missing privilege (`lockstep plan` prints the GRANT statements)";
  if (sqlstate == "42P01" || sqlstate == "42703" || sqlstate == "42883" || sqlstate == "3F000") {
    return "the schema has changed since the last `lockstep apply`: run `lockstep check`, then `lockstep "
           "apply`";
  }
  return {};
}

}  // namespace

PostgresSession::PostgresSession(const SourceConfig& source, const std::string& purpose) {
  const std::string parameters = connection_string(source, purpose);
  translating_postgres_errors("connecting to the source", [&] {
    connection_ = std::make_unique<pqxx::connection>(parameters);
    pqxx::nontransaction setup(*connection_);
    setup.exec(kSessionSettings);
    schema_ = setup.exec_params1("select quote_ident($1)", source.schema)[0].c_str();
  });
}

std::string PostgresSession::sql(std::string_view statement) const {
  constexpr std::string_view kPlaceholder = "{schema}";
  std::string text;
  text.reserve(statement.size() + 64);
  while (true) {
    const std::size_t at = statement.find(kPlaceholder);
    text.append(statement.substr(0, at));
    if (at == std::string_view::npos) return text;
    text.append(schema_);
    statement.remove_prefix(at + kPlaceholder.size());
  }
}

const std::string& PostgresSession::prepared(const std::string& statement) {
  const auto known = prepared_.find(statement);
  if (known != prepared_.end()) return known->second;
  const std::string name = "lockstep_" + std::to_string(prepared_.size());
  connection_->prepare(name, statement);
  return prepared_.emplace(statement, name).first->second;
}

std::string PostgresSession::quote_name(std::string_view name) const {
  return connection_->quote_name(std::string(name));
}

void translating_postgres_errors(std::string_view doing, const std::function<void()>& step) {
  const std::string what(doing);
  try {
    step();
  } catch (const pqxx::in_doubt_error& error) {
    throw Error({what, one_line(error.what()), "", Retry::kLater, Server::kSource});
  } catch (const pqxx::broken_connection& error) {
    // No connection: whether the server is away or refuses us can only be told from the SQLSTATE, which libpq
    // does not give for a failed start-up; so it is tried again, and the message says why.
    throw Error({what, one_line(error.what()), "", Retry::kLater, Server::kSource});
  } catch (const pqxx::insufficient_privilege& error) {
    // Of all classes this one comes without its SQLSTATE.
    throw Error({what, one_line(error.what()), remedy_for("42501"), Retry::kNever, Server::kSource});
  } catch (const pqxx::sql_error& error) {
    const bool again = worth_a_retry(error.sqlstate());
    throw Error({what, one_line(error.what()), remedy_for(error.sqlstate()),
                 again ? Retry::kLater : Retry::kNever, Server::kSource});
  } catch (const pqxx::failure& error) {
    // What libpqxx throws without a class of its own comes from a connection that has been lost unnoticed.
    throw Error({what, one_line(error.what()), "", Retry::kLater, Server::kSource});
  }
}

}  // namespace lockstep
