// The lead on PostgreSQL: an advisory lock of the session, which ends with the connection.
#pragma once

#include "replicator/source/lead.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresLead final : public Lead {
 public:
  /// Both references must outlive this.
  PostgresLead(PostgresSession& session, const PostgresPipeline& pipeline)
      : session_(session), pipeline_(pipeline) {}

  /// Throws Error, retryable, when the server is a standby.
  bool try_lead() override;
  bool is_led() override;
  SourceIdentity identity() override;
  Epoch epoch() override;
  KnownPartners known_partners() override;
  Epoch raise_epoch(Epoch at_least, const KnownPartners& partners) override;
  void note_quiet(Epoch epoch) override;

 private:
  PostgresSession& session_;
  const PostgresPipeline& pipeline_;
};

}  // namespace lockstep
