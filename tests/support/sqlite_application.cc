#include "tests/support/sqlite_application.h"

#include <stdexcept>

namespace lockstep::support {

SqliteApplication::SqliteApplication(const std::filesystem::path& file) {
  if (sqlite3_open(file.c_str(), &handle_) != SQLITE_OK) {
    sqlite3_close(handle_);
    throw std::runtime_error("cannot open " + file.string());
  }
  set_patience(std::chrono::minutes(1));
}

void SqliteApplication::set_patience(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(handle_, static_cast<int>(patience.count()));
}

int SqliteApplication::attempt(const std::string& statements) {
  const int code = sqlite3_exec(handle_, statements.c_str(), nullptr, nullptr, nullptr) & 0xff;
  if (code != SQLITE_OK && sqlite3_get_autocommit(handle_) == 0)
    sqlite3_exec(handle_, "rollback", nullptr, nullptr, nullptr);
  return code;
}

void SqliteApplication::execute(const std::string& statements) {
  query(statements, [](char**) {});
}

void SqliteApplication::query(const std::string& sql, const Row& row) {
  const auto call = [](void* to, int, char** values, char**) {
    (*static_cast<const Row*>(to))(values);
    return 0;
  };
  char* message = nullptr;
  if (sqlite3_exec(handle_, sql.c_str(), call, const_cast<Row*>(&row), &message) == SQLITE_OK) return;
  const std::string text = sql.substr(0, 200) + ": " + (message == nullptr ? "it failed" : message);
  sqlite3_free(message);
  throw std::runtime_error(text);
}

std::int64_t SqliteApplication::number(const std::string& sql) {
  std::int64_t number = 0;
  query(sql, [&](char** values) {
    if (values[0] != nullptr) number = std::stoll(values[0]);
  });
  return number;
}

}  // namespace lockstep::support
