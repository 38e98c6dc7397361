// An operator who reindexes at random while everything else goes on: another number of shards, another view,
// more columns and other contents in a view, the way back, the end, taking back. Some of the commands are
// killed. In a thread of its own, since a command watches its reindex, and that takes a while under faults.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/proof/chaos/replicator.h"
#include "tests/support/pipeline_under_test.h"

namespace lockstep::chaos {

class Reindexer {
 public:
  struct Stage {
    support::PipelineUnderTest& pipeline;  ///< nobody else uses it between work() and pause()
    std::vector<std::string> purposes;     ///< its indices
    std::vector<std::unique_ptr<Replicator>>& replicators;  ///< which get each new configuration
    int replicas = 0;                                       ///< of each shard
  };

  /// Makes a second view of each index's view. REQUIRES: everything in `stage` outlives it.
  Reindexer(Stage stage, std::uint64_t seed);
  ~Reindexer();
  Reindexer(const Reindexer&) = delete;
  Reindexer& operator=(const Reindexer&) = delete;

  void work();
  /// Kills the command that is under way. What it began goes on.
  void pause();

  /// Lets each reindex come to an end or be kept, and the indices be what the configuration says, by doing
  /// what the program's own words say. What cannot be settled so is among broken(). REQUIRES: it is paused,
  /// and nothing is disturbed.
  void settle();

  /// How often each kind of command was given, and what came of reindexes.
  const std::map<std::string, int>& counts() const { return counts_; }
  /// What must not happen.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void move();
  void reindex(const std::string& purpose);
  void change_view(const std::string& purpose);
  void command(const std::string& what, std::vector<std::string> arguments);
  std::string state_of(const std::string& purpose);
  std::string other_view(const std::string& purpose) const { return "chaos." + purpose + "_2"; }
  void replace_view(const std::string& purpose);
  std::string first_obstacle();
  void follow_words(const std::string& words, int deeper);
  void note(const std::string& what);

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  Stage stage_;
  std::mt19937_64 random_;
  std::map<std::string, std::string> first_views_;  // by purpose
  std::map<std::string, int> columns_;              // that the second view has more than the first, likewise
  std::map<std::string, int> counts_;
  std::vector<std::string> broken_;
  const Clock::time_point begun_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;  // guarded by mutex_
  std::atomic<bool> working_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;  // last: everything else exists while it runs
};

}  // namespace lockstep::chaos
