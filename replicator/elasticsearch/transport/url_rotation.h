// Which of several equal servers gets the next request: each in turn, without those that have just failed to
// answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "replicator/clock.h"

namespace lockstep {

class UrlRotation {
 public:
  /// How long a server that did not answer rests.
  static constexpr std::chrono::seconds kRest{5};

  /// Begins with the server number `first`, so that several threads begin with different servers. REQUIRES:
  /// count > 0.
  UrlRotation(std::size_t count, std::size_t first) : rests_until_(count), next_(first % count) {}

  /// The next server that does not rest; when all rest, the one whose rest ends first.
  std::size_t next(SteadyTime now);

  void answered(std::size_t server) { rests_until_[server] = SteadyTime{}; }
  void silent(std::size_t server, SteadyTime now) { rests_until_[server] = now + kRest; }

  std::size_t count() const { return rests_until_.size(); }

 private:
  std::vector<SteadyTime> rests_until_;
  std::size_t next_;
};

}  // namespace lockstep
