// Which of several equal servers gets the next request: one after the other, and one that does not answer is
// left alone for a moment in favour of the others.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "replicator/clock.h"

namespace lockstep {

class UrlRotation {
 public:
  /// How long a server that did not answer is left alone.
  static constexpr std::chrono::seconds kRest{5};

  /// `first` is where to begin, so that several threads do not all begin with the same server. REQUIRES:
  /// count > 0.
  UrlRotation(std::size_t count, std::size_t first) : rests_until_(count), next_(first % count) {}

  /// The next server that is not left alone; when all are, the one whose rest ends first.
  std::size_t next(SteadyTime now);

  void answered(std::size_t server) { rests_until_[server] = SteadyTime{}; }
  void silent(std::size_t server, SteadyTime now) { rests_until_[server] = now + kRest; }

  std::size_t count() const { return rests_until_.size(); }

 private:
  std::vector<SteadyTime> rests_until_;
  std::size_t next_;
};

}  // namespace lockstep
