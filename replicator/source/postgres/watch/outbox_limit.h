// What becomes of changes that the triggers have left out because the outbox was full
// (0003_outbox_limit.sql).
#pragma once

#include <cstdint>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresOutboxLimit {
 public:
  /// REQUIRES: `session` outlives it and has no transaction open.
  explicit PostgresOutboxLimit(PostgresSession& session) : session_(session) {}

  // See Source. They throw what pqxx throws.
  bool has_given_up();
  bool make_good();

  /// Once the outbox is small again it may become full again. To be called after it was pruned.
  void settle();

  std::int64_t outbox_size();

 private:
  enum class State { kWriting = 1, kFull = 2, kResumed = 3, kMadeGood = 4 };

  State state(pqxx::transaction_base& transaction);
  void set_state(pqxx::transaction_base& transaction, State state);
  bool try_lock(pqxx::transaction_base& transaction);
  void unlock(pqxx::transaction_base& transaction);

  PostgresSession& session_;
};

}  // namespace lockstep
