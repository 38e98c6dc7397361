// One run: two processes of the program, a database and Elasticsearch in memory, writers, operators, a
// network, deaths, and observers that check the properties. Everything that happens follows from the seed.
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
#include "replicator/pipeline/repair/verification.h"
#include "replicator/pipeline/waiter.h"
#include "tests/proof/simulation/fibers.h"
#include "tests/proof/simulation/histories.h"
#include "tests/proof/simulation/network.h"
#include "tests/proof/simulation/reindexer.h"
#include "tests/proof/simulation/schedule.h"
#include "tests/proof/simulation/traits.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::simulation {

/// What the searchable documents of an index may lag behind.
inline constexpr std::chrono::seconds kRefreshes{1};

/// The number of the commit that has made a document what it is.
std::int64_t commit_of(const std::string& json);

/// Whose documents a real index or one of its aliases has.
IndexId documents_in(const std::string& index);

struct Options {
  std::uint64_t seed = 1;
  /// So long there are writers, deaths and weather, at most; then all has to become equal.
  std::chrono::seconds load{30};
  bool tells_all = false;                          ///< prints each event as it comes
  std::optional<std::set<std::string>> only = {};  ///< all events but these are left out
  int order = 0;                                   ///< another one of the threads, for the same events
};

/// An event that the run has begun.
struct Begun {
  std::string name;
  std::string words;
};

struct Outcome {
  std::string finding;          ///< empty: every property held
  std::deque<std::string> log;  ///< the last events, in words
  std::vector<Begun> events;
  std::uint64_t hash = 0;  ///< of all that happened
  std::chrono::milliseconds simulated{};
  std::int64_t commits = 0;
  int deaths = 0;
  std::chrono::milliseconds slowest_own{};  ///< change of a document of its own, in fair conditions
  std::chrono::milliseconds slowest_end{};  ///< until nothing was left to do, with fair weather
  double most_work = 0;                     ///< documents rendered for one that was due
  std::int64_t most_growth = 0;             ///< of a process, in bytes, when all was done twice
  std::vector<std::string> unknown;         ///< of Options::only: there was no such event
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
    std::stop_source stop;
    bool has_ended = false;
  };

  /// A document of its own, whose changes nothing else may hold up.
  struct Own {
    std::int64_t commit = 0;
    SteadyTime since{};
    bool is_awaited = false;
    SteadyTime fair_since{};
  };

  void note(const std::string& what);
  void begins(const Event& event, const std::string& words);
  void tell(const std::string& line);
  void find(const std::string& property, const std::string& details);
  void watch(const fake::Operation& operation, const std::string& json);
  void run_all();

  void run_process(int number);
  void begin_process(int number);
  void disturb_processes();
  void disturb_one(Event& event);
  void kill(Event& event, int number);
  void kill_successor(Event& event, int number);
  void end(Event& event, int number);
  void bury(int number);
  int leader_or(int number) const;
  void stop(Event& event, const std::vector<int>& numbers);
  void take_a_step(fake::Step step);

  // load.cc
  void write(int writer);
  void write_once(Event& event);
  void change_own(IndexId index);
  void change_weather();
  void forget_deletes();
  void operate();
  void repair(const std::vector<std::string>& ids);
  void retry_dead_letters();
  void reindex();

  // aliases.cc
  void move_aliases();
  void move_alias(Event& event);
  std::optional<Reindex> await_step();
  bool has_two(const Reindex& reindex) const;
  bool is_followed(const std::string& alias) const;
  std::string live_index(const std::string& alias, const Reindex& known) const;
  bool is_noticed(const std::string& alias, const std::string& live) const;
  bool is_moved(const std::string& alias) const { return moved_ == alias; }

  // load.cc
  void disturb_source();
  void crash(Event& event);
  void restore(Event& event);
  void disturb_indices();
  void replace(Event& event);
  void remove(Event& event);
  void exchange(Event& event);
  /// From now on the two sides do not fit, until a leader has looked.
  void doubt();
  bool is_doubted() const;

  // checks.cc
  void check_exchanged(const fake::Operation& operation);
  void wait(int waiter);
  void verify();
  bool verify_once();
  void judge_reported(const AppliedIndex& index, const DifferingDocument& reported);
  void search();
  void search_once();
  void search_once(IndexId index, const std::string& alias);
  bool is_fair(IndexId index) const;
  void await_own();
  bool own_is_written(IndexId index, std::int64_t commit) const;
  void settle();
  bool come_to_rest();
  std::string unrest() const;
  std::string unfinished() const;
  std::string difference() const;
  void check_work();
  void check_memory();

  /// What a source of events does until the load is over: `happen` for each event, after a while.
  void each_event(const std::string& source, std::chrono::microseconds mean,
                  const std::function<void(Event&)>& happen);
  std::int64_t begin_commit();
  /// That searches find; 0: none, or several.
  Generation generation(const std::string& alias) const { return world_.elasticsearch.uuid_of(alias); }
  const AppliedIndex& index(IndexId id) const { return *world_.pipeline.find(id); }

  const Options options_;
  Schedule schedule_;
  const Traits traits_;
  Fibers fibers_;
  fake::World world_;
  Network network_;
  Histories histories_;
  Lot steps_;  // of the source: how long they take
  std::map<int, Process> processes_;
  Reindexer reindexer_;
  std::map<IndexId, Own> own_;
  SteadyTime disturbed_{};  // until then a process was, the last time
  // Documents that something else has written, and since when that is no longer so.
  std::map<std::pair<Generation, std::string>, std::optional<SteadyTime>> strangers_;
  Outcome outcome_;
  std::int64_t commit_ = 0;   // the number of the last one
  std::int64_t due_ = 0;      // documents that commits and operators have made due
  std::int64_t durable_ = 0;  // of the last one that a crash cannot take back
  std::vector<std::pair<std::int64_t, std::int64_t>> lost_;        // after the first, up to the second
  std::vector<std::pair<std::int64_t, std::int64_t>> taken_back_;  // by a restore, likewise
  std::shared_ptr<const fake::State> backup_;
  std::int64_t backed_up_ = 0;           // the last commit in it
  bool is_away_ = false;                 // the source
  int doubts_ = 0;                       // times that the two sides ceased to fit
  Epoch doubted_{-1};                    // that the program had, the last time
  std::string moved_;                    // the alias that somebody has moved by hand; empty: none
  std::optional<SteadyTime> exchanged_;  // since then the alias of the posts leads elsewhere
  bool load_is_over_ = false;
};

}  // namespace lockstep::simulation
