// A connection that changes rows and, meanwhile, the table that they are in: columns, types, labels, the
// function that the view calls, partitions. Whatever it does, a statement over rows may not fail for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <random>
#include <string>
#include <vector>

#include "tests/support/postgres_database.h"

namespace lockstep::chaos {

class SchemaChanger {
 public:
  /// REQUIRES: `database` outlives it, and has the schema of shapes.sql.
  SchemaChanger(const support::PostgresDatabase& database, std::uint64_t seed)
      : database_(database), random_(seed) {}

  void set_pause(std::chrono::milliseconds pause) { pause_ = pause; }

  /// Writes as long as `go_on` says so; a lost connection is made again.
  void run_while(const std::function<bool()>& go_on);

  std::int64_t committed() const { return committed_; }
  /// Of which rows and schemas were locked by others, or the database was away.
  std::int64_t failed() const { return failed_; }
  /// Statements over rows that failed for another reason, with the reason.
  std::vector<std::string> broken() const;

 private:
  void connect();
  void change_rows();
  void change_schema();
  std::string rows();
  std::string definition();
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  std::string column() { return "c" + std::to_string(pick(1, 4)); }

  const support::PostgresDatabase& database_;
  std::mt19937_64 random_;
  std::chrono::milliseconds pause_{0};
  std::unique_ptr<pqxx::connection> connection_;
  std::atomic<std::int64_t> committed_ = 0;
  std::atomic<std::int64_t> failed_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> broken_;  // guarded by mutex_
};

}  // namespace lockstep::chaos
