// Publishes once a second in the source what the leader is doing, for `lockstep status`. It has a connection
// of its own: it never waits for replication, and replication never waits for it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "replicator/clock.h"
#include "replicator/pipeline/progress.h"
#include "replicator/service/rate_meter.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

class StatusPublisher {
 public:
  struct Intervals {
    std::chrono::milliseconds busy{1'000};  ///< while the status changes
    std::chrono::milliseconds idle{5'000};  ///< while it does not
  };

  /// Calls `open_writer` in the publisher's thread. The references must outlive this.
  StatusPublisher(std::function<std::unique_ptr<StatusWriter>()> open_writer, const ProgressBoard& board,
                  const Clock& clock, Intervals intervals);

  /// If this process leads, publishes that it has stopped. If it ends with an error and nobody else leads,
  /// publishes why.
  ~StatusPublisher();
  StatusPublisher(const StatusPublisher&) = delete;
  StatusPublisher& operator=(const StatusPublisher&) = delete;

 private:
  void run(const std::stop_token& stop);
  void publish(const ReplicationProgress& progress);
  void say_stopped();
  void send(const PublishedStatus& status);
  bool may_say_stopped(const ReplicationProgress& progress);
  /// Does it with the writer, connected. Logs a failure.
  void with_writer(const std::function<void(StatusWriter&)>& step);

  const std::function<std::unique_ptr<StatusWriter>()> open_writer_;
  const ProgressBoard& board_;
  const Clock& clock_;
  const Intervals intervals_;

  // Of the publisher's thread.
  std::unique_ptr<StatusWriter> writer_;
  RateMeter rate_;
  PublishedStatus last_;
  SteadyTime sent_at_{};
  std::string last_logged_;

  std::jthread thread_;  // uses everything above
};

}  // namespace lockstep
