// A cluster of three nodes. Again and again it loses one of them, while the others go on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/private_engine.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::harness {

class FailingCluster {
 public:
  /// Starts the nodes. `engine` is a name that scripts/engine knows.
  explicit FailingCluster(const std::string& engine);

  /// One for each node.
  std::vector<std::string> urls() const;

  /// From now on kills a node, some seconds after the one before is back.
  void begin_to_fail(std::uint64_t seed);

  /// Stops killing, and waits until every copy of every index is back. Returns how many nodes it killed.
  int recover();

 private:
  void fail(const std::stop_token& stop, std::uint64_t seed);

  support::TemporaryFolder folder_;
  std::vector<std::unique_ptr<support::PrivateEngine>> nodes_;
  int killed_ = 0;
  std::jthread failing_;
};

}  // namespace lockstep::harness
