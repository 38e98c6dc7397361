// When rows of the outbox were seen first. They have no time of their own, which every writer would have to
// pay for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "replicator/clock.h"

namespace lockstep {

class FirstSeen {
 public:
  /// The newest row is `id` now.
  void note(std::int64_t id, SteadyTime now) {
    if (!looks_.empty() && looks_.back().newest >= id) return;
    if (looks_.size() == kMostLooks) looks_.erase(looks_.begin() + 1);
    looks_.push_back({id, now});
  }

  /// How long ago this row was seen first; 0: not yet.
  std::chrono::microseconds age(std::int64_t id, SteadyTime now) const {
    for (const Look& look : looks_) {
      if (look.newest >= id) return std::chrono::duration_cast<std::chrono::microseconds>(now - look.at);
    }
    return {};
  }

  /// Rows up to this one are of no interest any more.
  void forget(std::int64_t id) {
    while (!looks_.empty() && looks_.front().newest <= id) looks_.pop_front();
  }

 private:
  struct Look {
    std::int64_t newest = 0;
    SteadyTime at;
  };
  static constexpr std::size_t kMostLooks = 64;

  std::deque<Look> looks_;  // newest rises
};

}  // namespace lockstep
