// PostgreSQL as a source: one connection, and the roles that share it.
#pragma once

#include <string>

#include "replicator/config/config.h"
#include "replicator/source/postgres/read/change_log.h"
#include "replicator/source/postgres/read/dead_letter_box.h"
#include "replicator/source/postgres/read/lead.h"
#include "replicator/source/postgres/read/outbox_maintenance.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/reindexes.h"
#include "replicator/source/postgres/session/session.h"
#include "replicator/source/source.h"

namespace lockstep {

class PostgresSource final : public Source {
 public:
  /// As open_source().
  PostgresSource(const Config& config, const std::string& purpose);

  const AppliedPipeline& pipeline() const override { return pipeline_.applied; }
  void reload() override;
  std::string revision() override;

  Lead& lead() override { return lead_; }
  ChangeLog& changes() override { return changes_; }
  DeadLetterBox& dead_letters() override { return dead_letters_; }
  OutboxMaintenance& outbox() override { return outbox_; }
  Reindexes& reindexes() override { return reindexes_; }

 private:
  const std::string schema_name_;  // not quoted
  PostgresSession session_;
  PostgresPipeline pipeline_;
  PostgresLead lead_;
  PostgresChangeLog changes_;
  PostgresDeadLetterBox dead_letters_;
  PostgresOutboxMaintenance outbox_;
  PostgresReindexes reindexes_;
};

}  // namespace lockstep
