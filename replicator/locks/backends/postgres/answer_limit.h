// Limits how long an answer may take. libpq waits for one without end, and a renewal that waits longer than
// the lease lasts is worth nothing.
#pragma once

#include <chrono>
#include <optional>
#include <thread>

#include "replicator/clock.h"
#include "replicator/condition.h"
#include "replicator/mutex.h"

namespace lockstep {

/// Shuts a socket down when the time between begin() and end() exceeds a limit.
class AnswerLimit {
 public:
  explicit AnswerLimit(int socket);
  ~AnswerLimit();
  AnswerLimit(const AnswerLimit&) = delete;
  AnswerLimit& operator=(const AnswerLimit&) = delete;

  void begin(std::chrono::milliseconds limit);
  /// Whether the limit has passed; the connection is lost then.
  bool end();

 private:
  void watch(const std::stop_token& stop);

  const int socket_;
  Mutex mutex_;
  Condition wake_;
  std::optional<SteadyTime> end_ LOCKSTEP_GUARDED_BY(mutex_);
  bool passed_ LOCKSTEP_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: everything else exists while it runs
};

}  // namespace lockstep
