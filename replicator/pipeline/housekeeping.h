// What is done every so often beside the work of the loop.
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
    kAfterInterval,  ///< what it does has just been done, or there is nothing to do yet
  };

  std::chrono::milliseconds every;
  First first;
  std::function<void()> what;
  std::string_view why;  ///< in words that fit behind "since"
};

class Housekeeping {
 public:
  /// `begin` is when intervals begin that come before a first time.
  Housekeeping(std::vector<Chore> chores, SteadyTime begin);

  /// Does the chores that are due, in the order of the list. Throws what they throw.
  void run(SteadyTime now);

 private:
  struct Scheduled {
    Chore chore;
    Every every;
  };

  std::vector<Scheduled> chores_;
};

}  // namespace lockstep
