// Publishes the leader's state in the source once a second, for `lockstep status`. It has a connection of its
// own: it never waits for replication, and replication never waits for it. So it also finds out the reason of
// the loop's waits (slow_readings.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "replicator/clock.h"
#include "replicator/pipeline/progress.h"
#include "replicator/service/freshness_keeper.h"
#include "replicator/service/job_rates.h"
#include "replicator/service/rate_meter.h"
#include "replicator/service/slow_readings.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

class StatusPublisher {
 public:
  struct Intervals {
    std::chrono::milliseconds busy{1'000};  ///< while the status changes
    std::chrono::milliseconds idle{5'000};  ///< while it does not
  };

  /// The published part of `[slo] lag`.
  struct Objective {
    FreshnessKeeper* keeper = nullptr;  ///< null: there is no objective
    std::function<std::unique_ptr<StatusReader>()> open_reader = {};
  };

  /// Calls `open_writer` and `open_reader` in the publisher's thread. The references must outlive this.
  StatusPublisher(std::function<std::unique_ptr<StatusWriter>()> open_writer, ProgressBoard& board,
                  const Clock& clock, Intervals intervals, Objective objective);

  /// If this process leads, publishes that it has stopped. If it ends with an error and no other process
  /// leads, publishes why.
  ~StatusPublisher();
  StatusPublisher(const StatusPublisher&) = delete;
  StatusPublisher& operator=(const StatusPublisher&) = delete;

 private:
  void run(const std::stop_token& stop);
  std::vector<LockWait> lock_waits();
  void publish(const ReplicationProgress& progress);
  void say_stopped();
  /// The last leader's notes must be read before this one's report takes their place.
  void read_notes_of_last_leader();
  std::optional<Freshness> notes() const;
  void send(const PublishedStatus& status, const ReplicationProgress& progress, double documents_per_second);
  bool may_say_stopped(const ReplicationProgress& progress);
  /// Logs a failure, and then closes the connection.
  void attempt(const std::function<void()>& step);
  /// Does it with the writer, connected.
  void with_writer(const std::function<void(StatusWriter&)>& step);

  const std::function<std::unique_ptr<StatusWriter>()> open_writer_;
  ProgressBoard& board_;
  const Clock& clock_;
  const Intervals intervals_;
  const Objective objective_;

  // Of the publisher's thread.
  std::unique_ptr<StatusWriter> writer_;
  RateMeter rate_;
  SlowReadings slow_;
  JobRates job_rates_;
  PublishedStatus last_;         // without the notes, which change every second
  bool has_read_notes_ = false;  // in this leadership
  SteadyTime sent_at_{};
  std::string last_logged_;
  bool is_failing_ = false;  // and the log has it, or will have

  std::jthread thread_;  // uses everything above
};

}  // namespace lockstep
