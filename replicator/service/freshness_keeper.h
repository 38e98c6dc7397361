// Keeps the leader's notes on its objective, `[slo] lag`: from the last leader's report to the next one's.
#pragma once

#include <chrono>
#include <optional>

#include "replicator/clock.h"
#include "replicator/mutex.h"
#include "replicator/pipeline/freshness.h"
#include "replicator/pipeline/progress.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// Thread-safe.
class FreshnessKeeper {
 public:
  explicit FreshnessKeeper(std::chrono::milliseconds objective);

  /// Continues from the last leader's report, or starts afresh if there is none, if its objective was
  /// another, or if it cannot be read, which it logs. This process's notes stay if they are later. The time
  /// since then is missed.
  void go_on_from(const std::optional<LeaderReport>& last, WallTime now);

  /// Notes the state on a leader's board. Does nothing before go_on_from().
  void note(const ReplicationProgress& progress, SteadyTime now, WallTime at);

  /// For the leader's report. None: go_on_from() was not called.
  std::optional<Freshness> notes() const;

  /// The present report, from this process's notes alone.
  std::optional<FreshnessReport> report(WallTime now) const;

 private:
  const std::chrono::milliseconds objective_;
  mutable Mutex mutex_;
  std::optional<Freshness> notes_ LOCKSTEP_GUARDED_BY(mutex_);
};

}  // namespace lockstep
