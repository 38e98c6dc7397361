// Does harm, by a plan that the seed decides: kills, freezes, cuts, delays, crashes, promotes, restores.
// Faults overlap; those that last end by themselves, and heal() ends all of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/proof/chaos/neighbour.h"
#include "tests/proof/chaos/replicator.h"
#include "tests/proof/chaos/search_servers.h"
#include "tests/proof/chaos/source_servers.h"
#include "tests/support/postgres_database.h"
#include "tests/support/recording_proxy.h"
#include "tests/support/tcp_proxy.h"

namespace lockstep::chaos {

/// All that faults are done to.
struct Stage {
  SourceServers& source;
  support::TcpProxy& entrance;  ///< of the writers and the checker to the source; only moved, never disturbed
  support::PostgresDatabase& database;
  support::RecordingProxy& recorder;
  std::optional<SearchServers>& search;  ///< none: Elasticsearch isn't ours to harm
  Neighbour& neighbour;
  std::vector<std::string> aliases;
  std::vector<std::unique_ptr<Replicator>>& replicators;
  const std::atomic<bool>& interrupted;
};

class Supervisor {
 public:
  Supervisor(Stage stage, std::uint64_t seed);
  /// What is frozen goes on, so that everything can be ended in good order.
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Random faults for so long; what has not ended by then lasts until heal().
  void disturb(std::chrono::seconds duration);

  /// Ends every fault, and starts what doesn't run.
  void heal();

  /// The database becomes what the copy of it is: an older state.
  void put_back();
  /// The replica takes the primary's place; what it has not received is lost.
  void promote();
  /// For the put_back() or promote() to come.
  void prepare_put_back();
  void prepare_promotion();

  /// How often each kind of fault was done.
  const std::map<std::string, int>& counts() const { return counts_; }
  /// Processes that ended without being asked to, and SIGTERMs that were not obeyed.
  const std::vector<std::string>& misconduct() const { return misconduct_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::milliseconds;

  struct Fault {
    const char* name;
    int weight;
    const char* lane;  ///< what it occupies: nothing else is done there meanwhile
    std::function<void(Replicator&)> begin;
    bool of_replicator = true;  ///< the lane is one of the chosen replicator
  };
  struct Ending {
    Clock::time_point at;
    std::string lane;
    std::function<void()> end;
  };

  void add_process_faults();
  void add_source_faults();
  void add_elasticsearch_faults();
  void add_neighbour_faults();
  void add_engine_faults();
  void begin_one();
  void end_over(Clock::time_point now);
  void look_after_replicators();
  void note(const std::string& what);
  Replicator& leader();
  Replicator& any();
  int any_node() { return pick(0, stage_.search->nodes() - 1); }
  const std::string& any_alias() {
    return stage_.aliases.at(static_cast<std::size_t>(pick(0, static_cast<int>(stage_.aliases.size()) - 1)));
  }
  std::int64_t epoch();
  /// What is begun now ends in so long.
  void later(Milliseconds duration, std::function<void()> end);
  void exchange_source(const char* what, const std::function<void()>& exchange);

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Milliseconds between(int low, int high) { return Milliseconds(pick(low, high)); }

  Stage stage_;
  std::mt19937_64 random_;
  std::vector<Fault> faults_;
  std::vector<Ending> endings_;
  std::string lane_;               // of the fault that begins
  std::future<void> engine_work_;  // on a node, which takes it a while
  std::int64_t epoch_of_copy_ = -1;
  std::map<std::string, int> counts_;
  std::vector<std::string> misconduct_;
  const Clock::time_point begun_ = Clock::now();
};

}  // namespace lockstep::chaos
