// Three nodes of a search engine, of which one is killed again and again while the others go on.
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
  /// Starts the nodes; `engine` is a name of scripts/engine.
  explicit FailingCluster(const std::string& engine);

  /// One a node.
  std::vector<std::string> urls() const;

  /// From now on kills a node some seconds after the one before is back.
  void begin_to_fail(std::uint64_t seed);

  /// Lets it be, and waits until every copy of every index is there again. How many nodes were killed.
  int recover();

 private:
  void fail(const std::stop_token& stop, std::uint64_t seed);

  support::TemporaryFolder folder_;
  std::vector<std::unique_ptr<support::PrivateEngine>> nodes_;
  int killed_ = 0;
  std::jthread failing_;
};

}  // namespace lockstep::harness
