// A database of its own for each test, dropped at its end.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/servers.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {

class PostgresDatabase {
 public:
  /// Creates an empty database with a random name on the server of postgresql_url().
  PostgresDatabase();
  /// The same on another server, by a superuser's URL, or in another encoding, with the locale C.
  explicit PostgresDatabase(const std::string& server_url, const std::string& encoding = "UTF8");
  /// Drops it, with who is still connected, and the roles that were made.
  ~PostgresDatabase();
  PostgresDatabase(const PostgresDatabase&) = delete;
  PostgresDatabase& operator=(const PostgresDatabase&) = delete;

  const std::string& name() const { return name_; }

  /// As a configuration file has it: postgresql://user@host:port/database.
  std::string url() const;
  /// The same for another role. The server of the tests trusts its machine.
  std::string url_as(std::string_view role) const;
  /// Where the server listens, and url() by a proxy before it. REQUIRES: not on a unix socket.
  HostAndPort server() const { return {host_, std::stoi(port_)}; }
  std::string url_by(const HostAndPort& proxy) const;
  /// Empty when postgresql_url() has none.
  const std::string& password() const { return password_; }

  /// A connection more, for another session.
  std::unique_ptr<pqxx::connection> connect() const;
  std::unique_ptr<pqxx::connection> connect_as(std::string_view role) const;

  /// Runs SQL as psql -c does: one or several statements, in a transaction of their own unless they say
  /// otherwise.
  void execute(std::string_view sql);
  pqxx::result query(std::string_view sql);

  /// The first column of the first row as text; none for null. Throws std::runtime_error when there is no
  /// row.
  std::optional<std::string> value(std::string_view sql);
  std::int64_t number(std::string_view sql);

  /// Runs a .sql file with psql, so that its meta-commands work; a folder: all its .sql files in the order of
  /// their names.
  void run(const std::filesystem::path& file_or_folder);

  /// Connects anew after the server was away.
  void reconnect() { connection_ = connect(); }

  /// Copies the database as it is, and puts the copy in its place later, as a restored backup. REQUIRES for
  /// back_up(): nobody else is connected.
  void back_up();
  void restore();

  /// The same with pg_dump and psql, which works while others are connected; the new database has nothing of
  /// the old one but what SQL tells.
  void dump();
  void restore_dump();

  /// Makes a login role with a random name that ends in `suffix`; returns its name. It is dropped with the
  /// database.
  std::string create_role(std::string_view suffix);

 private:
  std::string server_url_;
  std::string name_;
  std::string host_;  // a path: the folder of a unix socket
  std::string port_;
  std::string user_;
  std::string password_;
  std::vector<std::string> roles_;
  TemporaryFolder folder_;  // for dumps
  std::unique_ptr<pqxx::connection> connection_;
};

/// Runs one or several statements in a transaction of their own on `connection`.
pqxx::result execute(pqxx::connection& connection, std::string_view sql);

}  // namespace lockstep::support
