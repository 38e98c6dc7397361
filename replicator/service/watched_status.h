// The source's report on a pipeline, for the status page and `status --watch`: read every other second in a
// thread of its own while there are readers, so that no reader waits for another, and without readers it
// costs nothing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "replicator/clock.h"
#include "replicator/condition.h"
#include "replicator/mutex.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

class WatchedStatus {
 public:
  struct Intervals {
    std::chrono::milliseconds read{2'000};
    std::chrono::milliseconds interest{10'000};  ///< how long a look keeps it reading
  };

  /// The last reading.
  struct Look {
    bool is_known = false;  ///< false: the first reading has not ended
    std::optional<PipelineStatus>
        status;            ///< none: nothing could be read yet, or the pipeline is not applied
    SteadyTime read_at{};  ///< of `status`
    std::string trouble;   ///< why reading fails since then, in one line; empty: it does not
  };

  /// Calls `open_reader` in its own thread. The references must outlive this.
  WatchedStatus(std::function<std::unique_ptr<StatusReader>()> open_reader, const Clock& clock,
                Intervals intervals);
  ~WatchedStatus() = default;
  WatchedStatus(const WatchedStatus&) = delete;
  WatchedStatus& operator=(const WatchedStatus&) = delete;

  /// At once, from any thread.
  Look look();

 private:
  void run(const std::stop_token& stop);
  void read();
  bool is_watched();
  bool was_looked_at() const LOCKSTEP_REQUIRES(mutex_);

  const std::function<std::unique_ptr<StatusReader>()> open_reader_;
  const Clock& clock_;
  const Intervals intervals_;
  std::unique_ptr<StatusReader> reader_;  // of the thread

  Mutex mutex_;
  Condition looked_;
  std::optional<SteadyTime> looked_at_ LOCKSTEP_GUARDED_BY(mutex_);
  Look look_ LOCKSTEP_GUARDED_BY(mutex_);
  std::jthread thread_;  // uses everything above
};

}  // namespace lockstep
