#include "replicator/source/postgres/session/login.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "replicator/clock.h"

namespace lockstep {
namespace {

// A server that answers at all answers soon. The wait for a silent one is over already.
constexpr std::chrono::seconds kPatience{3};
constexpr std::size_t kSqlstateLength = 5;

struct Remedy {
  std::string_view sqlstate;
  std::string_view text;
  std::string_view of_command_line = text;  // for a url that no configuration has
};

// Refusals that the operator has to fix.
constexpr std::array<Remedy, 6> kRefusals = {{
    {"", "give source.password_file, source.password_env, or PGPASSFILE in the environment",
     "give the password in the url, or PGPASSFILE in the environment"},
    {"28P01", "correct source.password or its file, or the role's password in PostgreSQL",
     "correct the password in the url or in PGPASSFILE, or the role's password in PostgreSQL"},
    {"28000",
     "create the role, or correct the user in source.url; or let it log in: it needs LOGIN, and pg_hba.conf "
     "a "
     "line for it, this database and this machine",
     "create the role, or correct the user in the url; or let it log in: it needs LOGIN, and pg_hba.conf a "
     "line "
     "for it, this database and this machine"},
    {"3D000", "create the database, or correct its name in source.url",
     "create the database, or correct its name in the url"},
    {"42501", "let the role connect: grant connect on database … to …"},
    {"55000", "let the database take connections: alter database … allow_connections true"},
}};

constexpr std::string_view kNoRoom = "53300";  // too_many_connections

bool is_code(std::string_view text) {
  return text.size() == kSqlstateLength && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
         });
}

// False: it lets us in, or does not answer.
bool fails_to_start(PGconn& connection) {
  const SteadyTime until = std::chrono::steady_clock::now() + kPatience;
  PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
  while (wants != PGRES_POLLING_OK && wants != PGRES_POLLING_FAILED) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd socket{PQsocket(&connection), wants == PGRES_POLLING_READING ? short{POLLIN} : short{POLLOUT}, 0};
    if (left.count() <= 0 || poll(&socket, 1, static_cast<int>(left.count())) <= 0) return false;
    wants = PQconnectPoll(&connection);
  }
  return wants == PGRES_POLLING_FAILED;
}

std::string server_of(const PGconn& connection) {
  const std::string host = PQhost(&connection);
  const std::string port = PQport(&connection);
  return host.starts_with('/') ? host + "/.s.PGSQL." + port : host + ":" + port;
}

// Null: it may pass.
const Remedy* known_refusal(const LoginRefusal& refusal) {
  const auto* const known = std::find_if(kRefusals.begin(), kRefusals.end(), [&](const Remedy& each) {
    return each.sqlstate == refusal.sqlstate;
  });
  return known == kRefusals.end() ? nullptr : known;
}

std::string remedy_of(const LoginRefusal& refusal, UrlFrom from) {
  const Remedy* const known = known_refusal(refusal);
  if (known == nullptr) return {};
  return std::string(from == UrlFrom::kCommandLine ? known->of_command_line : known->text);
}

std::string in_words(const LoginRefusal& refusal) {
  std::string where = refusal.sqlstate.empty() ? "" : "SQLSTATE " + refusal.sqlstate;
  if (!refusal.server.empty()) where += (where.empty() ? "server " : ", server ") + refusal.server;
  return where.empty() ? refusal.message : refusal.message + " (" + where + ")";
}

}  // namespace

std::optional<LoginRefusal> login_refusal(const std::string& parameters) {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectStart(parameters.c_str()), PQfinish);
  if (!connection || PQstatus(connection.get()) == CONNECTION_BAD) return std::nullopt;
  PQsetErrorVerbosity(connection.get(), PQERRORS_VERBOSE);
  if (!fails_to_start(*connection)) return std::nullopt;
  std::optional<LoginRefusal> refusal = read_refusal(PQerrorMessage(connection.get()));
  if (!refusal && PQconnectionNeedsPassword(connection.get()) != 0)
    refusal = LoginRefusal{"", "the server asks for a password, and none is given", {}, {}};
  if (!refusal) return std::nullopt;
  refusal->role = PQuser(connection.get());
  refusal->database = PQdb(connection.get());
  refusal->server = server_of(*connection);
  return refusal;
}

std::optional<LoginRefusal> read_refusal(std::string_view verbose) {
  constexpr std::string_view kBefore = ":  ";
  constexpr std::string_view kBehind = ": ";
  for (std::size_t at = verbose.rfind(kBefore); at != std::string_view::npos && at > 0;
       at = verbose.rfind(kBefore, at - 1)) {
    const std::string_view rest = verbose.substr(at + kBefore.size());
    const std::string_view code = rest.substr(0, kSqlstateLength);
    if (!is_code(code) || !rest.substr(kSqlstateLength).starts_with(kBehind)) continue;
    const std::string_view message = rest.substr(kSqlstateLength + kBehind.size());
    return LoginRefusal{std::string(code), std::string(message.substr(0, message.find('\n'))), {}, {}};
  }
  return std::nullopt;
}

RefusedLogin::RefusedLogin(const std::string& doing, const LoginRefusal& refusal, UrlFrom from)
    : PostgresError({doing,
                     "PostgreSQL refuses the role " + refusal.role + " in the database " + refusal.database +
                         ": " + in_words(refusal),
                     remedy_of(refusal, from), Retry::kNever, Server::kSource},
                    refusal.sqlstate, refusal.message),
      refusal_(refusal) {}

RefusedLogin RefusedLogin::of_command_line() const {
  return {parts().doing, refusal_, UrlFrom::kCommandLine};
}

void throw_refused_login(const std::string& doing, const LoginRefusal& refusal) {
  if (known_refusal(refusal) != nullptr) throw RefusedLogin(doing, refusal, UrlFrom::kConfiguration);
  const bool is_full = refusal.sqlstate == kNoRoom;
  throw PostgresError(
      {doing, "PostgreSQL takes no connection now: " + in_words(refusal),
       is_full ? "end unused connections, or raise max_connections or the role's own limit" : "",
       Retry::kLater, Server::kSource},
      refusal.sqlstate, refusal.message);
}

}  // namespace lockstep
