// The writers, each in a thread of its own: some change the schema with joins (random_writer.h), some the
// tree (tree_writer.h), and one the shape of a table (schema_changer.h). They work, pause, and work again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/proof/chaos/schema_changer.h"
#include "tests/proof/chaos/tree_writer.h"
#include "tests/support/postgres_database.h"
#include "tests/support/random_writer.h"

namespace lockstep::chaos {

class Crew {
 public:
  /// Half of the writers commit without waiting for the disk, so that a crash of the database loses what they
  /// were told is committed; and half of them are of a role that has no right on anything of lockstep's.
  Crew(const support::PostgresDatabase& database, std::uint64_t seed, int of_each_kind);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void work();
  /// Returns when no writer has a transaction any more.
  void pause();

  std::int64_t committed() const;
  std::int64_t failed() const;
  /// What failed and must not.
  std::vector<std::string> broken() const { return shapes_.broken(); }

 private:
  using Task = std::function<void(const std::function<bool()>& go_on)>;
  void run(const Task& task);

  std::vector<std::unique_ptr<support::RandomWriter>> mixed_;
  std::vector<std::unique_ptr<TreeWriter>> tree_;
  SchemaChanger shapes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int busy_ = 0;  // guarded by mutex_
  std::atomic<bool> working_ = false;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lockstep::chaos
