// How fast each job, and each index's due work, advances now. The loop only counts; the measurement runs next
// to it, so that a loop that hangs is seen to advance nothing.
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
/// which is that of a job that stands or has begun some seconds ago.
std::optional<std::chrono::milliseconds> time_left(std::int64_t done, std::optional<std::int64_t> total,
                                                   double documents_per_second);

/// For one thread.
class JobRates {
 public:
  /// A job without an advance for so long stands still.
  static constexpr std::chrono::seconds kStands{15};

  /// Counts on `board` the progress of its jobs and due work, and sets the rates there. Call it about once a
  /// second.
  void look(ProgressBoard& board, SteadyTime now);

 private:
  struct Count {
    SteadyTime taken_up_at;
    std::int64_t done = 0;
    bool waits = false;
    std::chrono::seconds window{};  // to measure over
  };

  /// Since this process took it up, or since it continued after standing still.
  struct Measured {
    SteadyTime taken_up_at;
    std::int64_t done = 0;
    SteadyTime begun_at{};
    SteadyTime advanced_at{};
    bool has_advanced = false;
    RateMeter rate;
  };

  template <class Id>
  static std::map<Id, double> measure(std::map<Id, Measured>& known, const std::map<Id, Count>& counts,
                                      SteadyTime now);
  static void begin(Measured& work, const Count& count, SteadyTime now);
  static void add(Measured& work, const Count& count, SteadyTime now);

  std::map<JobId, Measured> jobs_;
  std::map<IndexId, Measured> due_;
};

}  // namespace lockstep
