// The lead on PostgreSQL: an advisory lock of the session, which ends with the connection and needs no open
// transaction.
//
// Any role that may connect can take an advisory lock. So a holder counts only if it may write the
// checkpoint. If a stranger holds the lock, a process that wants to lead changes its number
// (checkpoint.lead_key).
//
// D1. At most one leads. The holder of a number leads only if it is in force afterwards, read under the row's
//     lock; and the number changes only under the row's lock, while no Lockstep holds it.
//
// D2. A Lockstep that knows of one number only and this one do not lead together: a leader by another number
//     holds that one too when it can, and stands by while one of Lockstep's does. If a stranger gives it up
//     later, the epoch keeps the two apart.
#pragma once

#include <cstdint>

#include "replicator/source/lead.h"
#include "replicator/source/postgres/read/lead_holders.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresLead final : public Lead {
 public:
  /// Both references must outlive this.
  PostgresLead(PostgresSession& session, const PostgresPipeline& pipeline)
      : session_(session), pipeline_(pipeline) {}

  /// Throws Error, retryable, if the server is a standby. Logs a holder of the lock that is not Lockstep's.
  bool try_lead() override;
  bool is_led() override;
  SourceIdentity identity() override;
  void leave_mark(Epoch /*epoch*/) override {}  // a place in the WAL never comes again
  Epoch epoch() override;
  KnownPartners known_partners() override;
  Epoch raise_epoch(Epoch at_least, const KnownPartners& partners) override;
  void note_quiet(Epoch epoch, bool landed) override;

 private:
  enum class Outcome { kLeading, kStandingBy, kKeyChanged };
  struct Keys {
    std::int64_t first = 0;    ///< follows from the identity: all that older locksteps know
    std::int64_t current = 0;  ///< in force
  };

  void require_primary();
  Outcome attempt();
  Keys keys();
  std::vector<LeadLock> locks();
  bool take(std::int64_t key);
  void let_go(std::int64_t key);
  /// D1. REQUIRES: `key` is taken.
  bool is_in_force(std::int64_t key);
  /// Puts another number into force when only strangers hold this one.
  Outcome change(const Keys& keys);

  PostgresSession& session_;
  const PostgresPipeline& pipeline_;
};

}  // namespace lockstep
