// Looks at the board once a second, and keeps its samples for the charts and for `[slo] lag`.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include "replicator/pipeline/progress.h"
#include "replicator/service/freshness_keeper.h"
#include "replicator/service/history.h"

namespace lockstep {

/// The board's sample for the history. None: it does not know how the pipeline is.
std::optional<History::Sample> sample_of(const ReplicationProgress& progress);

class Sampler {
 public:
  /// `freshness` may be null: there is no objective. All must outlive this.
  Sampler(ProgressBoard& board, const Clock& clock, History& history, FreshnessKeeper* freshness,
          std::chrono::milliseconds interval);
  ~Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

 private:
  void run(const std::stop_token& stop) const;
  void keep_freshness(const ReplicationProgress& progress, WallTime now) const;

  ProgressBoard& board_;
  const Clock& clock_;
  History& history_;
  FreshnessKeeper* const freshness_;
  const std::chrono::milliseconds interval_;
  std::jthread thread_;  // uses everything above
};

}  // namespace lockstep
