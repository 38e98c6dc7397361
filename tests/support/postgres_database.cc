#include "tests/support/postgres_database.h"

#include <libpq-fe.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>

#include "tests/support/program.h"
#include "tests/support/random_seed.h"
#include "tests/support/servers.h"

namespace lockstep::support {
namespace {

std::map<std::string, std::string> parse_url(const std::string& url) {
  char* message = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &message);
  if (options == nullptr) {
    const std::string why = message == nullptr ? "out of memory" : message;
    PQfreemem(message);
    throw std::runtime_error("not a PostgreSQL URL: " + why);
  }
  std::map<std::string, std::string> values;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) values[option->keyword] = option->val;
  }
  PQconninfoFree(options);
  return values;
}

std::string percent_encoded(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

}  // namespace

pqxx::result execute(pqxx::connection& connection, std::string_view sql) {
  pqxx::nontransaction work(connection);
  return work.exec(std::string(sql));
}

PostgresDatabase::PostgresDatabase() : PostgresDatabase(postgresql_url()) {}

PostgresDatabase::PostgresDatabase(const std::string& server_url, const std::string& encoding)
    : server_url_(server_url), name_("lockstep_test_" + random_name()) {
  auto options = parse_url(server_url_);
  host_ = options.contains("host") ? options["host"] : "127.0.0.1";
  port_ = options.contains("port") ? options["port"] : "5432";
  user_ = options.contains("user") ? options["user"] : "postgres";
  password_ = options["password"];
  pqxx::connection server(server_url_);
  const std::string locale = encoding == "UTF8" ? "" : " lc_collate 'C' lc_ctype 'C'";
  support::execute(server,
                   "create database " + name_ + " template template0 encoding '" + encoding + "'" + locale);
  connection_ = connect();
}

PostgresDatabase::~PostgresDatabase() {
  try {
    for (const auto& row : query("select gid from pg_prepared_xacts where database = current_database()")) {
      execute("rollback prepared " + connection_->quote(row[0].as<std::string>()));
    }
    connection_.reset();
    pqxx::connection server(server_url_);
    support::execute(server, "drop database " + name_ + " with (force)");
    for (const std::string& role : roles_) support::execute(server, "drop role " + role);
  } catch (const std::exception& error) {
    std::cerr << "could not drop the database " << name_ << ": " << error.what() << '\n';
  }
}

std::string PostgresDatabase::url() const {
  return url_as(user_);
}

std::string PostgresDatabase::url_by(const HostAndPort& proxy) const {
  return "postgresql://" + percent_encoded(user_) + "@" + proxy.host + ":" + std::to_string(proxy.port) +
         "/" + name_;
}

std::string PostgresDatabase::url_as(std::string_view role) const {
  const std::string user = percent_encoded(role);
  if (host_.starts_with('/')) {
    return "postgresql://" + user + "@/" + name_ + "?host=" + percent_encoded(host_) + "&port=" + port_;
  }
  return "postgresql://" + user + "@" + host_ + ":" + port_ + "/" + name_;
}

std::unique_ptr<pqxx::connection> PostgresDatabase::connect() const {
  return connect_as(user_);
}

std::unique_ptr<pqxx::connection> PostgresDatabase::connect_as(std::string_view role) const {
  std::string options = "host='" + host_ + "' port=" + port_ + " dbname=" + name_ + " user='" +
                        std::string(role) + "' client_encoding=UTF8";
  if (!password_.empty()) options += " password='" + password_ + "'";
  auto connection = std::make_unique<pqxx::connection>(options);
  // Notices would fill the output; what a test wants to know it asks.
  support::execute(*connection, "set client_min_messages = warning");
  return connection;
}

void PostgresDatabase::execute(std::string_view sql) {
  support::execute(*connection_, sql);
}

pqxx::result PostgresDatabase::query(std::string_view sql) {
  return support::execute(*connection_, sql);
}

std::optional<std::string> PostgresDatabase::value(std::string_view sql) {
  const pqxx::result rows = query(sql);
  if (rows.empty()) throw std::runtime_error("no row: " + std::string(sql));
  if (rows[0][0].is_null()) return std::nullopt;
  return rows[0][0].as<std::string>();
}

std::int64_t PostgresDatabase::number(std::string_view sql) {
  const auto text = value(sql);
  if (!text) throw std::runtime_error("null: " + std::string(sql));
  return std::stoll(*text);
}

void PostgresDatabase::run(const std::filesystem::path& file_or_folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(file_or_folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(file_or_folder)) {
      if (entry.path().extension() == ".sql") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(file_or_folder);
  }
  if (files.empty()) throw std::runtime_error("no .sql file in " + file_or_folder.string());
  for (const auto& file : files) {
    const Completed psql =
        run_program("psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url(), "-f", file.string()},
                    {{"PGPASSWORD", password_}});
    if (psql.exit_code != 0) throw std::runtime_error(file.string() + ": " + psql.err);
  }
}

void PostgresDatabase::back_up() {
  connection_.reset();
  pqxx::connection server(server_url_);
  support::execute(server, "create database " + name_ + "_backup template " + name_);
  connection_ = connect();
}

void PostgresDatabase::restore() {
  connection_.reset();
  pqxx::connection server(server_url_);
  support::execute(server, "drop database " + name_ + " with (force)");
  support::execute(server, "alter database " + name_ + "_backup rename to " + name_);
  connection_ = connect();
}

void PostgresDatabase::dump() {
  const Completed dumped = run_program("pg_dump", {"-f", (folder_.path() / "dump.sql").string(), url()},
                                       {{"PGPASSWORD", password_}});
  if (dumped.exit_code != 0) throw std::runtime_error("pg_dump: " + dumped.err);
}

void PostgresDatabase::restore_dump() {
  connection_.reset();
  {
    pqxx::connection server(server_url_);
    support::execute(server, "drop database " + name_ + " with (force)");
    support::execute(server, "create database " + name_);
  }
  connection_ = connect();
  run(folder_.path() / "dump.sql");
}

std::string PostgresDatabase::create_role(std::string_view suffix) {
  const std::string role = "lockstep_test_" + random_name(8) + "_" + std::string(suffix);
  execute("create role " + role + " login");
  roles_.push_back(role);
  return role;
}

}  // namespace lockstep::support
