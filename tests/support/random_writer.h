// A connection that changes the database of random_schema.sql at random, in every kind of transaction that
// PostgreSQL has.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <pqxx/pqxx>
#include <random>
#include <string>
#include <vector>

#include "tests/support/postgres_database.h"

namespace lockstep::support {

class RandomWriter {
 public:
  enum class Role {
    kMixed,  ///< transactions of a few statements
    kLarge,  ///< now and then statements of thousands of rows
  };

  /// REQUIRES: `database` outlives it.
  RandomWriter(const PostgresDatabase& database, int number, std::uint64_t seed, Role role);

  /// Rows of one statement of a kLarge writer.
  void set_large_rows(int rows) { large_rows_ = rows; }
  /// Between two transactions.
  void set_pause(std::chrono::milliseconds pause) { pause_ = pause; }
  /// SQL for each connection that is made from now on.
  void set_session(const std::string& sql) { session_ = sql; }

  /// Writes until `end`, then ends the transactions that it has prepared.
  void run_until(std::chrono::steady_clock::time_point end);
  /// The same, as long as `go_on` says so. A lost connection is made again.
  void run_while(const std::function<bool()>& go_on);

  std::int64_t committed() const { return committed_; }
  /// Transactions that PostgreSQL has ended: conflicts, duplicates, missing partners, lost connections. They
  /// are part of the test.
  std::int64_t failed() const { return failed_; }
  const std::map<std::string, int>& kinds() const { return kinds_; }

 private:
  // Transactions
  void transact();
  void plain();
  void with_savepoints();
  void prepared();
  void end_prepared();
  void serializable();
  void slow();
  void large();
  void copy_posts();
  void truncate_notices();

  // One statement (or two) with random rows
  std::string statement();
  std::string change_user();
  std::string change_post();
  std::string change_comment();
  std::string change_tag();
  std::string change_event();
  std::string notice();

  void connect();
  bool rolled_back();
  void run(const std::string& sql);
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  std::string user() { return std::to_string(pick(1, 220)); }
  std::string post() { return std::to_string(chance(30) ? pick(1, 40) : pick(1, 4200)); }
  std::string comment();
  std::string tag();
  std::string event_kind();

  const PostgresDatabase& database_;
  const Role role_;
  const std::string name_;
  std::mt19937_64 random_;
  std::unique_ptr<pqxx::connection> connection_;
  int large_rows_ = 10'000;
  std::chrono::milliseconds pause_{0};
  std::string session_;
  int next_ = 0;  // numbers what this writer makes
  std::vector<std::string> prepared_;
  std::atomic<std::int64_t> committed_ = 0;
  std::atomic<std::int64_t> failed_ = 0;
  std::map<std::string, int> kinds_;
};

}  // namespace lockstep::support
