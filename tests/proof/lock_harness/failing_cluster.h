// Three nodes, which again and again lose one of them, every second time their master, while the others go
// on; or a single one, which is away for longer than every lease whenever it is killed and started again, and
// then stays for at least as long, so that something gets done.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/private_engine.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::harness {

class FailingCluster {
 public:
  /// Starts so many nodes. `engine` is a name that scripts/engine knows.
  FailingCluster(const std::string& engine, std::size_t nodes);

  /// One for each node.
  std::vector<std::string> urls() const;

  /// From now on kills a node, some seconds after the one before is back.
  void begin_to_fail(std::uint64_t seed);

  /// What was killed: nodes, and among them masters.
  struct Killed {
    int nodes = 0;
    int masters = 0;
  };

  /// Stops killing, and waits until every copy of every index is back. Throws when a node has not come back.
  Killed recover();

 private:
  void fail(const std::stop_token& stop, std::uint64_t seed);
  /// How long nobody is killed after one that was away for so long: the clients need it when there is no
  /// other.
  std::chrono::milliseconds rest(std::chrono::steady_clock::duration away) const;
  std::optional<std::size_t> master() const;

  support::TemporaryFolder folder_;
  std::vector<std::unique_ptr<support::PrivateEngine>> nodes_;
  Killed killed_;
  std::exception_ptr failure_;  ///< why nobody is killed any more
  std::jthread failing_;
};

}  // namespace lockstep::harness
