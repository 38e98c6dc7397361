// What a run is like. Runs differ in what happens at all, and how often: a run in which everything happens
// has little of each, and what one fault does the next one hides. (A. Groce and others, "Swarm testing",
// 2012)
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/proof/simulation/network.h"
#include "tests/proof/simulation/schedule.h"

namespace lockstep::simulation {

/// What a commit does.
enum class Write : std::uint8_t {
  kPutPost,
  kDeletePost,
  kRename,   ///< of a user: all of the user's posts change
  kPutFile,  ///< under a routing
  kDeleteFile,
  kPutAll,      ///< posts
  kTruncate,    ///< posts
  kPutRefused,  ///< a post that Elasticsearch refuses
};

struct Traits {
  /// All that comes and goes takes so many times as long, and some steps of the source a minute: longer than
  /// Elasticsearch remembers deletions.
  int pace = 1;
  std::chrono::seconds load{30};
  std::vector<std::string> posts;  ///< ids
  std::vector<Write> writes;       ///< each as often as it is likely
  std::chrono::milliseconds between_writes{60};
  std::vector<Weather> weathers;
  std::string bad_index;  ///< of weather that concerns one; empty: now this one, now that
  std::chrono::milliseconds between_deaths{6'000};  ///< 0: none
  bool source_fails = false;                        ///< it crashes, and is restored
  bool indices_change = false;                      ///< operators delete, replace and exchange them
  bool reindexes = false;                           ///< an operator reindexes, and applies
  bool moves_aliases = false;                       ///< another one moves aliases by hand meanwhile
  bool measures_memory = false;                     ///< when all is at rest
  std::chrono::milliseconds request_timeout{5'000};
  Network::Habits network;

  /// Most of what goes wrong is a request that arrives when Elasticsearch has forgotten deletions, or a
  /// process that sleeps for as long.
  bool comes_late = false;

  bool is_slow() const { return pace > 1; }
  bool has(Write write) const;
};

/// `load`: at most.
Traits draw_traits(Lot lot, std::chrono::seconds load);

}  // namespace lockstep::simulation
