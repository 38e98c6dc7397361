// How fast each job advances now. The loop only counts; whoever measures stands beside it, so that a loop
// that hangs is seen to advance nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "replicator/clock.h"
#include "replicator/pipeline/progress.h"
#include "replicator/service/rate_meter.h"

namespace lockstep {

/// How long a job still takes at its present rate. None: it has no total or is beyond it, or the rate is 0,
/// which is that of a job that stands or has only begun.
std::optional<std::chrono::milliseconds> time_left(std::int64_t done, std::optional<std::int64_t> total,
                                                   double documents_per_second);

/// For one thread.
class JobRates {
 public:
  /// A job that has not advanced for so long stands.
  static constexpr std::chrono::seconds kStands{15};

  /// Counts the jobs on `board`, and tells it their rates. Call it about once a second.
  void look(ProgressBoard& board, SteadyTime now);

 private:
  /// Of one job, since this process took it up, or since it went on after it stood.
  struct Measured {
    SteadyTime taken_up_at;
    std::int64_t done = 0;
    SteadyTime advanced_at{};
    bool has_advanced = false;
    RateMeter rate;
  };

  static void begin(Measured& job, const JobStatus& status, SteadyTime now);
  static void count(Measured& job, const JobStatus& status, SteadyTime now);

  std::map<JobId, Measured> jobs_;
};

}  // namespace lockstep
