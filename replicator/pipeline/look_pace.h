// How often a pipeline at rest looks for changes: each look wakes the database, so a long rest makes it
// rarer. The added delay of the change that ends a rest is at most a five-hundredth of the rest.
#pragma once

#include <chrono>

namespace lockstep {

/// Of one wait for a change in the source.
struct LookPace {
  std::chrono::milliseconds check_every;
  std::chrono::milliseconds at_most;  ///< then the loop does its chores
  bool operator==(const LookPace&) const = default;
};

/// After a rest of `rest`, where `poll_interval` is configured. REQUIRES: `rest` is more than a second; below
/// that the loop expects a change at any moment.
LookPace look_pace(std::chrono::milliseconds rest, std::chrono::milliseconds poll_interval);

}  // namespace lockstep
