#include "tests/support/pgbouncer.h"

#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "tests/support/eventually.h"
#include "tests/support/listening_socket.h"

namespace lockstep::support {
namespace {

int free_port() {
  const ListeningSocket socket;
  return socket.port();
}

bool answers(const std::string& url) {
  try {
    const pqxx::connection connection(url);
    return connection.is_open();
  } catch (const pqxx::broken_connection&) {
    return false;
  }
}

}  // namespace

PgBouncer::PgBouncer(const PostgresDatabase& database, const std::string& pool_mode) {
  const int port = free_port();
  const std::filesystem::path file = folder_.path() / "pgbouncer.ini";
  const std::unique_ptr<pqxx::connection> direct = database.connect();
  std::ofstream(file) << "[databases]\n"
                      << database.name() << " = host=" << direct->hostname() << " port=" << direct->port()
                      << " user=" << direct->username()
                      << "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port
                      << "\nunix_socket_dir =\nauth_type = any\npool_mode = " << pool_mode
                      << "\nignore_startup_parameters = extra_float_digits\n";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  std::vector<std::string> arguments{file.string()};
  if (::geteuid() == 0) arguments = {"--user", "nobody", file.string()};  // it does not run as root
  program_ = std::make_unique<Program>("/usr/sbin/pgbouncer", arguments);
  url_ = "postgresql://" + std::string(direct->username()) + "@127.0.0.1:" + std::to_string(port) + "/" +
         database.name();
  if (!wait_until([&] { return answers(url_); }, std::chrono::seconds(20)))
    throw std::runtime_error("pgbouncer does not answer: " + program_->err());
}

}  // namespace lockstep::support
