// SQLite as a source: one connection, and the roles that share it.
#pragma once

#include <string>

#include "replicator/config/config.h"
#include "replicator/source/source.h"
#include "replicator/source/sqlite/read/change_log.h"
#include "replicator/source/sqlite/read/dead_letter_box.h"
#include "replicator/source/sqlite/read/lead.h"
#include "replicator/source/sqlite/read/outbox_maintenance.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/read/reindexes.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteSource final : public Source {
 public:
  /// As open_source().
  explicit SqliteSource(const Config& config);

  const AppliedPipeline& pipeline() const override { return pipeline_.applied; }
  void reload() override;
  std::string revision() override;

  Lead& lead() override { return lead_; }
  ChangeLog& changes() override { return changes_; }
  DeadLetterBox& dead_letters() override { return dead_letters_; }
  OutboxMaintenance& outbox() override { return outbox_; }
  Reindexes& reindexes() override { return reindexes_; }

 private:
  SqliteConnection connection_;
  SqlitePipeline pipeline_;
  SqliteHistory history_;
  SqliteLead lead_;
  SqliteChangeLog changes_;
  SqliteDeadLetterBox dead_letters_;
  SqliteOutboxMaintenance outbox_;
  SqliteReindexes reindexes_;
};

}  // namespace lockstep
