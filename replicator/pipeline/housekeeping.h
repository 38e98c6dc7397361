// Chores that the loop does now and then, next to its work.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

#include "replicator/clock.h"

namespace lockstep {

struct Chore {
  enum class First {
    kAtOnce,
    kAfterInterval,  ///< its work has just been done, or there is none yet
  };

  enum class Cause {
    kTime,
    kCommit,  ///< of others, in the source; while there is none the chore is done every kWhileStill
  };

  std::chrono::milliseconds every;
  First first;
  std::function<void()> what;
  std::string_view why;  ///< in words that fit behind "since"
  Cause cause = Cause::kTime;
};

/// The leader's news of the source since the chores last ran.
enum class SourceSince {
  kUnknown,     ///< anything may have been committed
  kStoodStill,  ///< nothing was
};

class Housekeeping {
 public:
  /// Not never: an obstacle to a chore may pass without a commit, a lock for one.
  static constexpr std::chrono::milliseconds kWhileStill{5'000};

  /// The first interval of a kAfterInterval chore begins at `begin`.
  Housekeeping(std::vector<Chore> chores, SteadyTime begin);

  /// Does the chores that are due, in the order of the list. Throws their exceptions.
  void run(SteadyTime now, SourceSince source);

 private:
  struct Scheduled {
    Chore chore;
    Every every;
    SteadyTime done_at{};
    bool has_news = true;  // there may have been commits since it was last done
  };

  std::vector<Scheduled> chores_;
};

}  // namespace lockstep
