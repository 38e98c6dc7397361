// Looks at the board once a second, and keeps what it sees for the charts.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include "replicator/pipeline/progress.h"
#include "replicator/service/history.h"

namespace lockstep {

/// What the board says for the history. None: it does not know how the pipeline is.
std::optional<History::Sample> sample_of(const ReplicationProgress& progress);

class Sampler {
 public:
  /// The references must outlive this.
  Sampler(const ProgressBoard& board, History& history, std::chrono::milliseconds interval);
  ~Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

 private:
  void run(const std::stop_token& stop) const;

  const ProgressBoard& board_;
  History& history_;
  const std::chrono::milliseconds interval_;
  std::jthread thread_;  // uses everything above
};

}  // namespace lockstep
