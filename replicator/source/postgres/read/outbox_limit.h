// The fate of changes that the triggers dropped because the outbox was full (0003_outbox_limit.sql,
// 0010_outbox_bound.sql): capture is enabled again, and comparisons make up for them.
#pragma once

#include <cstdint>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// Every function throws Error.
class PostgresOutboxLimit {
 public:
  /// REQUIRES: `session` outlives this and has no transaction open during a call.
  explicit PostgresOutboxLimit(PostgresSession& session) : session_(session) {}

  /// As that of OutboxMaintenance.
  bool has_given_up();

  /// Whether the triggers drop changes now.
  bool is_full();

  /// Whether more is on disk than the limit allows, passed or not.
  bool is_over_on_disk();

  /// Moves every pipeline to now, and adds comparisons of all their indices.
  void skip_pending();

  /// Has the triggers write again. They stop when the outbox becomes full again. REQUIRES: is_full().
  void capture_again();

  /// Makes up for dropped changes, as OutboxMaintenance::resume() does, once no writer drops any more.
  bool resume();

  std::int64_t outbox_size();

 private:
  /// The last value of capture_state.
  enum class State {
    kCapturing = 1,
    kFull = 2,      ///< the triggers drop changes
    kResumed = 3,   ///< the triggers write again; dropped changes are not made up for yet
    kEmptying = 4,  ///< as kCapturing; earlier versions of Lockstep set it
  };

  State state();
  void set_state(State state);
  bool try_lock();
  void unlock();

  PostgresSession& session_;
};

}  // namespace lockstep
