// Ends the tail's reading of an index if it takes too long, so that the other indices continue. It costs the
// source nothing: a thread asks it to cancel the statement only then.
//
// Rejected: a statement_timeout for each reading, which is a round trip more for each change, and which would
// also end the commit of a checkpoint that waits for a standby.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "replicator/clock.h"
#include "replicator/condition.h"
#include "replicator/mutex.h"
#include "replicator/source/applied.h"
#include "replicator/thread.h"

namespace lockstep {

/// For one thread; it has another one, which waits for the end.
class ReadingLimit {
 public:
  /// `cancel` is ChangeLog::cancel_reading().
  explicit ReadingLimit(std::function<bool()> cancel);
  ~ReadingLimit() = default;
  ReadingLimit(const ReadingLimit&) = delete;
  ReadingLimit& operator=(const ReadingLimit&) = delete;

  /// Runs `read`, a reading for `index`. Throws ViewTooSlow if that took longer than `limit`, whether it was
  /// ended or has come to its end just then: its result is of no use. If it cannot be ended, it takes as long
  /// as it does. Throws the exceptions of `read`.
  void run(const AppliedIndex& index, std::chrono::milliseconds limit, const std::function<void()>& read);

 private:
  void watch(const std::stop_token& stop);
  void begin(std::chrono::milliseconds limit);
  /// Whether the reading was too long.
  bool end();

  const std::function<bool()> cancel_;
  Mutex mutex_;
  Condition begun_;
  std::optional<SteadyTime> end_ LOCKSTEP_GUARDED_BY(mutex_);  // none: nothing is read
  bool is_cancelled_ LOCKSTEP_GUARDED_BY(mutex_) = false;
  /// The thread, for an end; max: for a reading to begin.
  SteadyTime waits_until_ LOCKSTEP_GUARDED_BY(mutex_){};
  Thread thread_;  // uses everything above
};

}  // namespace lockstep
