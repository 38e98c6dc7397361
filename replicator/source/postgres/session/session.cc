#include "replicator/source/postgres/session/session.h"

#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/session/login.h"
#include "replicator/source/postgres/session/pooler.h"
#include "replicator/source/postgres/session/value_settings.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

// jit and parallel workers cost more than they save on queries of milliseconds. The outbox's statistics are
// always stale, and would make the planner choose sequential scans. If nothing else is possible, that makes a
// small table look so expensive that it is scanned by parallel workers, whose start takes 10 ms. The server
// notices within 11 s that our machine is gone, and frees the leader's lock: by its own defaults that takes
// longer than 15 minutes. On a unix socket these settings do nothing.
constexpr const char* kSessionSettings = R"sql(
set jit = off;
set enable_seqscan = off;
set max_parallel_workers_per_gather = 0;
set search_path = '';
set idle_in_transaction_session_timeout = 0;
set statement_timeout = 0;
set lock_timeout = 0;
set synchronous_commit = on;
set default_transaction_isolation = 'read committed';
set tcp_keepalives_idle = 5;
set tcp_keepalives_interval = 2;
set tcp_keepalives_count = 3;
set tcp_user_timeout = 10000;
)sql";

// The schema as a name, and the encoding. A session may rest for long between the pages of a job, and one of
// its transactions render for long. The settings that would end them came with PostgreSQL 14 and 17.
constexpr const char* kAskForFacts = R"sql(
select quote_ident($1), current_setting('server_encoding'),
       (select count(set_config(name, '0', false)) from pg_catalog.pg_settings
        where name in ('idle_session_timeout', 'transaction_timeout'))
)sql";

// A standby does not report this either, but is refused elsewhere, by its name.
constexpr const char* kAskForWal = R"sql(
select case when not pg_is_in_recovery() then
  (pg_control_system()).system_identifier || pg_walfile_name(pg_current_wal_insert_lsn()) || pg_current_wal_flush_lsn()
end
)sql";

// The functions may be revoked, or refuse to work, each service with an SQLSTATE of its own.
bool answers_about_wal(pqxx::connection& connection) {
  try {
    translating_postgres_errors("asking for the end of the WAL",
                                [&] { pqxx::nontransaction(connection).exec(kAskForWal); });
    return true;
  } catch (const PostgresError& error) {
    if (!error.retryable()) return false;
    throw;
  }
}

std::string quoted_for_conninfo(const std::string& value) {
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// libpq's keyword/value string: the url, and our own settings if it has none.
std::string connection_string(const SourceConfig& source, const std::string& purpose) {
  std::map<std::string, std::string> parameters = {
      {"application_name", "lockstep " + purpose},
      {"keepalives_idle", "10"},
      {"keepalives_interval", "5"},
      {"keepalives_count", "3"},
      {"tcp_user_timeout", "15000"},
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

constexpr const char* kConnectionException = "08000";

constexpr const char* kConnecting = "connecting to the source";

// libpqxx 6 silently reconnects a lost session, and continues without its settings, locks and transaction. It
// calls the way to forbid that deprecated because libpqxx 7 never does it.
void stay_lost([[maybe_unused]] pqxx::connection& connection) {
#if PQXX_VERSION_MAJOR < 7
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
#endif
}

std::unique_ptr<pqxx::connection> connect(const std::string& parameters) {
  try {
    auto connection = std::make_unique<pqxx::connection>(parameters);
    stay_lost(*connection);
    return connection;
  } catch (const pqxx::broken_connection& error) {
    const std::optional<LoginRefusal> refusal = login_refusal(parameters);
    if (!refusal) throw no_connection(kConnecting, error.what());
    throw_refused_login(kConnecting, *refusal);
  }
}

}  // namespace

PostgresSession::PostgresSession(const SourceConfig& source, const std::string& purpose) {
  const std::string parameters = connection_string(source, purpose);
  translating_postgres_errors(kConnecting, [&] {
    connection_ = connect(parameters);
    last_words_ = std::make_unique<LastWords>(*connection_);
    require_own_backend(*connection_, [&] {
      return connect(parameters);
    });  // before the settings, which a pooler would give to others
    pqxx::nontransaction setup(*connection_);
    setup.exec(kSessionSettings + value_settings_sql());
    const pqxx::row facts = setup.exec_params1(kAskForFacts, source.schema);
    schema_ = facts[0].c_str();
    const std::string encoding = facts[1].c_str();
    // The latter takes any bytes. It must take them from us, too: the keys of rows come back as parameters.
    if (encoding == "SQL_ASCII") setup.exec("set client_encoding = 'SQL_ASCII'");
    stores_utf8_ = encoding == "UTF8" || encoding == "SQL_ASCII";
  });
  tells_wal_ = answers_about_wal(*connection_);
}

void PostgresSession::cancel() {
  try {
    connection_->cancel_query();
  } catch (const pqxx::failure&) {
    // The connection is gone, and the statement with it.
  } catch (const std::bad_alloc&) {
    // So libpqxx calls it when libpq has nothing to cancel because the connection is gone.
  }
}

// libpqxx takes the whole class 08 for a connection that is lost. A view over a foreign server whose own one
// is lost raises it, too.
void PostgresSession::translating(std::string_view doing, const std::function<void()>& step) {
  const auto own_step = [&] {
    try {
      step();
    } catch (const pqxx::broken_connection& error) {
      if (!is_open()) throw;
      throw pqxx::sql_error(error.what(), "", kConnectionException);
    }
  };
  try {
    translating_postgres_errors(doing, own_step, last_words_->text());
  } catch (const pqxx::usage_error&) {
    if (is_open()) throw;
    throw lost_connection(doing, last_words_->text());
  }
}

std::string PostgresSession::sql(std::string_view statement) const {
  return with_schema(statement, schema_);
}

const std::string& PostgresSession::prepared(const std::string& statement) {
  const auto known = prepared_.find(statement);
  if (known != prepared_.end()) return known->second;
  const std::string name = "lockstep_" + std::to_string(prepared_.size());
  connection_->prepare(name, statement);
  return prepared_.emplace(statement, name).first->second;
}

const std::string& PostgresSession::prepared_now(const std::string& statement) {
  const std::string& name = prepared(statement);
#if PQXX_VERSION_MAJOR < 7
  connection_->prepare_now(name);  // libpqxx 6 waits for exec_prepared() with it
#endif
  return name;
}

std::string PostgresSession::storable(std::string_view text) const {
  std::string stored(text);
  if (stores_utf8_) return stored;
  std::replace_if(
      stored.begin(), stored.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return stored;
}

std::string PostgresSession::quote_name(std::string_view name) const {
  return connection_->quote_name(std::string(name));
}

}  // namespace lockstep
