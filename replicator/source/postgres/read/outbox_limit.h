// What becomes of changes that the triggers dropped because the outbox was full (0003_outbox_limit.sql):
// capture is enabled again, and comparisons make up for them.
#pragma once

#include <cstdint>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// Every function throws Error.
class PostgresOutboxLimit {
 public:
  /// REQUIRES: `session` outlives this and has no transaction open during a call.
  explicit PostgresOutboxLimit(PostgresSession& session) : session_(session) {}

  // As those of OutboxCare.
  bool has_given_up();
  bool resume();

  /// Lets the outbox become full again once it is below its limit. Call it after pruning.
  void allow_full_again();

  std::int64_t outbox_size();

 private:
  /// The last value of capture_state.
  enum class State {
    kCapturing = 1,
    kFull = 2,      ///< the triggers drop changes
    kResumed = 3,   ///< the triggers write again; nothing makes up for what they dropped
    kEmptying = 4,  ///< comparisons are added; the outbox is still above its limit
  };

  State state();
  void set_state(State state);
  bool try_lock();
  void unlock();

  PostgresSession& session_;
};

}  // namespace lockstep
