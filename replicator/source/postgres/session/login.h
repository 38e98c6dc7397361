// Why PostgreSQL refuses the login. libpq does not hand out the SQLSTATE of a refused start-up, and its text
// comes in the server's language; but asked to be verbose, it puts the code into the text, at a place of its
// own. libpqxx cannot ask for that, so a failed start-up is tried once more here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replicator/source/postgres/session/postgres_error.h"
#include "replicator/wrong_configuration.h"

namespace lockstep {

/// A server's answer to a start-up.
struct LoginRefusal {
  std::string sqlstate;  ///< empty: the server asks for a password, and there is none
  std::string message;   ///< "password authentication failed for user "lockstep""
  std::string role;
  std::string database;
  std::string server = {};  ///< "localhost:5432", or the path of a socket; empty: it is not known
};

/// Tries to connect, for some seconds. None: no server answers, or it lets us in now. `parameters` is libpq's
/// keyword/value string.
std::optional<LoginRefusal> login_refusal(const std::string& parameters);

/// The last "SEVERITY:  SQLSTATE: message" in libpq's verbose text; none: it has none, or it is of a warning.
std::optional<LoginRefusal> read_refusal(std::string_view verbose);

/// Where the url comes from that is refused: for the remedy.
enum class UrlFrom { kConfiguration, kCommandLine };

/// A role, password or database that the server refuses: never worth a retry.
class RefusedLogin final : public PostgresError, public WrongConfiguration {
 public:
  RefusedLogin(const std::string& doing, const LoginRefusal& refusal, UrlFrom from);

  /// The same with the remedy for a url of the command line.
  RefusedLogin of_command_line() const;

 private:
  LoginRefusal refusal_;
};

/// Throws the error for the caller that wanted to connect: RefusedLogin, or a PostgresError that is worth a
/// retry, for a server that starts or has no room.
[[noreturn]] void throw_refused_login(const std::string& doing, const LoginRefusal& refusal);

}  // namespace lockstep
