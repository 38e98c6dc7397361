// Reports the leader's readings from the source that take long, and the causes. The loop cannot report them
// itself: it waits.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/pipeline/progress.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// For one thread.
class SlowReadings {
 public:
  /// The loop's reading of a view, or a wait for a lock, takes long after this time.
  static constexpr std::chrono::milliseconds kSlow{3'000};
  /// A page of a job, next to the loop, may take longer: no change waits for it. So may a turn of the loop
  /// that does many things.
  static constexpr std::chrono::milliseconds kSlowOther{10'000};

  using AskForLocks = std::function<std::vector<LockWait>()>;

  /// Looks at the current readings, and reports the long ones to `board`. Logs their beginning and their end.
  /// Calls `ask` only while one may take long.
  void look(ProgressBoard& board, SteadyTime now, const AskForLocks& ask);

 private:
  struct Slow {
    std::string what;
    std::string why;  // in words; empty: not known
    SteadyTime since{};
  };

  static std::vector<Slow> find(const ReplicationProgress& progress, SteadyTime now, const AskForLocks& ask);
  void log(const std::vector<Slow>& slow, SteadyTime now);

  std::string logged_;  // empty: nothing took long
  SteadyTime since_{};  // of the logged ones
};

}  // namespace lockstep
