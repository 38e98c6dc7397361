// A connection that changes the tree of tree.sql at random: renames, moves, new files and directories, new
// contents, removals, single rows and thousands, in transactions of one or several changes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <random>
#include <string>

#include "tests/support/postgres_database.h"

namespace lockstep::chaos {

class TreeWriter {
 public:
  /// REQUIRES: `database` outlives it.
  TreeWriter(const support::PostgresDatabase& database, std::uint64_t seed)
      : database_(database), random_(seed) {}

  void set_pause(std::chrono::milliseconds pause) { pause_ = pause; }
  void set_session(const std::string& sql) { session_ = sql; }

  /// Writes as long as `go_on` says so; a lost connection is made again.
  void run_while(const std::function<bool()>& go_on);

  std::int64_t committed() const { return committed_; }
  std::int64_t failed() const { return failed_; }

 private:
  void connect();
  bool rolled_back();
  void transact();
  void transact_large();
  std::string change();
  std::string node(const char* kind);
  std::string top();
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  const support::PostgresDatabase& database_;
  std::mt19937_64 random_;
  std::chrono::milliseconds pause_{0};
  std::string session_;
  std::unique_ptr<pqxx::connection> connection_;
  std::atomic<std::int64_t> committed_ = 0;
  std::atomic<std::int64_t> failed_ = 0;
};

}  // namespace lockstep::chaos
