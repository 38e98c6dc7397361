// The last hour of a pipeline, in steps of ten seconds, for the charts of the status page.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "replicator/mutex.h"
#include "replicator/wall_time.h"

namespace lockstep {

/// Thread-safe.
class History {
 public:
  static constexpr std::chrono::seconds kStep{10};
  static constexpr std::int64_t kSteps = 360;

  /// A pipeline's state at one moment.
  struct Sample {
    std::chrono::microseconds lag{};        ///< as ReplicationProgress has it
    std::optional<std::int64_t> documents;  ///< written and deleted by this process; none: another one writes
  };

  /// One step. None: unknown, because the process did not run, or had lost a server.
  struct Point {
    std::optional<double> lag_seconds;           ///< the longest
    std::optional<double> documents_per_second;  ///< on average
  };

  /// Adds the present sample. Call it about once a second. After a clock was put back the history starts
  /// afresh.
  void add(WallTime at, const Sample& sample);

  /// The steps of the hour until now, the oldest first, the one that is not over last: always kSteps.
  std::vector<Point> points(WallTime now) const;

 private:
  struct Step {
    std::int64_t number = 0;  // steps since 1970
    std::chrono::microseconds longest_lag{};
    std::int64_t documents = 0;
    std::chrono::duration<double> measured{};  // how long documents were counted
  };
  struct Count {
    WallTime at;
    std::int64_t documents = 0;
  };

  mutable Mutex mutex_;
  std::deque<Step> steps_ LOCKSTEP_GUARDED_BY(mutex_);  // ascending; those without a sample are missing
  std::optional<Count> last_count_ LOCKSTEP_GUARDED_BY(mutex_);
};

}  // namespace lockstep
