// While this process does not follow, since it stands by or waits for Elasticsearch before it can: asks the
// source every few seconds how the pipeline is, whichever process runs it, and puts that on the board.
// Otherwise it would report no lag, or an old one, while no process follows. It has a connection of its own,
// so that taking over never waits for it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "replicator/clock.h"
#include "replicator/pipeline/progress.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

class StandbyWatch {
 public:
  struct Intervals {
    std::chrono::milliseconds look{2'000};
    /// There may be no leader for so long while one follows another.
    std::chrono::milliseconds grace{5'000};
  };

  /// Calls `open_reader` in the watch's thread, and only while this process does not follow. The references
  /// must outlive this.
  StandbyWatch(std::function<std::unique_ptr<StatusReader>()> open_reader, ProgressBoard& board,
               const Clock& clock, Intervals intervals);

 private:
  void run(const std::stop_token& stop);
  /// Why no process is known to run the pipeline; empty: one does.
  std::string look();
  void note(const std::string& trouble);

  const std::function<std::unique_ptr<StatusReader>()> open_reader_;
  ProgressBoard& board_;
  const Clock& clock_;
  const Intervals intervals_;

  // Of the watch's thread.
  std::unique_ptr<StatusReader> reader_;
  std::optional<SteadyTime> unled_since_;

  std::jthread thread_;  // uses everything above
};

}  // namespace lockstep
