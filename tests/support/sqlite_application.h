// An application's own connection to its SQLite file.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::support {

/// For one thread.
class SqliteApplication {
 public:
  /// Makes the file where there is none. Waits a minute for locks. Throws std::runtime_error.
  explicit SqliteApplication(const std::filesystem::path& file);
  ~SqliteApplication() { close(); }
  SqliteApplication(const SqliteApplication&) = delete;
  SqliteApplication& operator=(const SqliteApplication&) = delete;

  /// Nothing may follow.
  void close() { sqlite3_close(std::exchange(handle_, nullptr)); }

  /// How long a statement waits for a lock.
  void set_patience(std::chrono::milliseconds patience);

  /// The primary result code of SQLite. Whatever fails, no transaction stays open.
  int attempt(const std::string& statements);

  /// Throws std::runtime_error.
  void execute(const std::string& statements);

  /// Calls `row` with the texts of each row; null: a null pointer. Throws std::runtime_error.
  using Row = std::function<void(char** values)>;
  void query(const std::string& sql, const Row& row);

  /// The first column of the first row as a number, 0 without a row. Throws std::runtime_error.
  std::int64_t number(const std::string& sql);

 private:
  sqlite3* handle_ = nullptr;
};

}  // namespace lockstep::support
