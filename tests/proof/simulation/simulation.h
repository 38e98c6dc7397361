// One run: two processes of the program, a database and Elasticsearch in memory, writers, a network, deaths,
// and somebody who looks on. Everything that happens follows from the seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "replicator/pipeline/leader.h"
#include "replicator/pipeline/waiter.h"
#include "tests/proof/simulation/fibers.h"
#include "tests/proof/simulation/histories.h"
#include "tests/proof/simulation/network.h"
#include "tests/proof/simulation/reindexer.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::simulation {

/// Ids of posts that there can be, from p0 on.
inline constexpr int kPostIds = 30;

struct Options {
  std::uint64_t seed = 1;
  /// So long there are writers, deaths and weather; then all has to become equal.
  std::chrono::seconds load{30};
  bool reindexes = false;  ///< there is an operator who reindexes
  bool tells_all = false;  ///< prints each event as it comes
};

struct Outcome {
  std::string finding;          ///< empty: every property held
  std::deque<std::string> log;  ///< the last events, in words
  std::uint64_t hash = 0;       ///< of all events
  std::chrono::milliseconds simulated{};
  std::int64_t commits = 0;
  int deaths = 0;
};

class Simulation {
 public:
  explicit Simulation(const Options& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  Outcome run();

 private:
  struct Process {
    std::unique_ptr<ProgressBoard> board;
    const void* source = nullptr;  // its connection, as the database knows the leader
  };

  void note(const std::string& event);
  void tell(const std::string& line);
  void watch(const fake::Operation& operation, const std::string& json);
  void run_all();

  void run_process(int number);
  void begin_process(int number);
  void disturb_processes();
  void kill(int number);
  void stop(int number);

  void write();
  void write_once();
  void change_weather();
  void forget_deletes();
  void wait();
  void search();
  void search_once();
  void search_once(IndexId index, const std::string& alias);
  void operate();
  void reindex();
  void repair(const std::vector<std::string>& ids);
  void retry_dead_letters();
  void settle();
  std::string unrest() const;
  std::string difference() const;
  Generation generation(const std::string& alias) const;

  std::chrono::microseconds about(std::chrono::microseconds mean);
  void sleep(std::chrono::microseconds mean) { fibers_.sleep(about(mean * pace_)); }
  std::uint32_t below(std::uint32_t bound) { return fibers_.random() % bound; }
  std::string post() { return "p" + std::to_string(below(kPostIds)); }
  std::string file() { return "f" + std::to_string(below(10)); }
  std::string user();

  const Options options_;
  const int pace_;  // all that comes and goes takes so many times as long
  Fibers fibers_;
  fake::World world_;
  Network network_;
  Histories histories_;
  std::map<int, Process> processes_;
  Reindexer reindexer_;
  // Documents that something else has written, and since when that is no longer so.
  std::map<std::pair<Generation, std::string>, std::optional<SteadyTime>> strangers_;
  Outcome outcome_;
  std::int64_t commit_ = 0;   // the number of the last one
  std::int64_t durable_ = 0;  // of the last one that a crash cannot take back
  bool load_is_over_ = false;
};

}  // namespace lockstep::simulation
