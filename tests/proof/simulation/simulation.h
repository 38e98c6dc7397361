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
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "replicator/pipeline/leader.h"
#include "tests/proof/simulation/fibers.h"
#include "tests/proof/simulation/network.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::simulation {

/// A property does not hold.
class Finding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ids of posts that there can be, from p0 on.
inline constexpr int kPostIds = 30;

struct Options {
  std::uint64_t seed = 1;
  /// So long there are writers, deaths and weather; then all has to become equal.
  std::chrono::seconds load{30};
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

/// What the index has to have of a document: its states, by the number of the commit that made them.
class Histories {
 public:
  /// A document exists from this commit on, or does not.
  void note(IndexId index, const std::string& id, std::int64_t commit, bool exists);

  /// The commit that made what the view has of it; 0: none.
  std::int64_t last(IndexId index, const std::string& id) const;

  /// Elasticsearch has it as this commit made it. Throws Finding when it had a newer state.
  void shown(IndexId index, const std::string& id, std::int64_t commit);

  /// Elasticsearch does not have it any more. Throws Finding when no commit has deleted it since what it had.
  void gone(IndexId index, const std::string& id);

 private:
  struct History {
    std::vector<std::int64_t> deletions;
    std::int64_t last = 0;
    std::int64_t shown = 0;
  };
  std::map<std::pair<IndexId, std::string>, History> histories_;
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
  void wait_once();
  bool is_over(const std::map<IndexId, fake::StoredDue>& due, DueNumber newest) const;
  std::string missing(std::int64_t commit) const;
  void operate();
  void repair(IndexId index, const std::vector<std::string>& ids);
  void retry_dead_letters();
  void settle();
  std::string unrest() const;

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
  std::set<std::string> strangers_;  // posts that something else has written
  Outcome outcome_;
  std::int64_t commit_ = 0;   // the number of the last one
  std::int64_t durable_ = 0;  // of the last one that a crash cannot take back
  bool load_is_over_ = false;
};

}  // namespace lockstep::simulation
