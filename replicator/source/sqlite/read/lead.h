// The leader of a pipeline in a SQLite file: the holder of a byte of the file, on this machine. The epoch in
// the file is the fence.
#pragma once

#include "replicator/source/lead.h"
#include "replicator/source/sqlite/read/history.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/byte_lock.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteLead final : public Lead {
 public:
  /// The references must outlive this.
  SqliteLead(SqliteConnection& connection, const SqlitePipeline& pipeline, SqliteHistory& history)
      : connection_(connection),
        pipeline_(pipeline),
        history_(history),
        lock_(connection.file(), LockPurpose::kLead, pipeline.id()) {}

  bool try_lead() override;
  bool is_led() override;
  SourceIdentity identity() override;
  void leave_mark(Epoch epoch) override;
  Epoch epoch() override;
  KnownPartners known_partners() override;
  Epoch raise_epoch(Epoch at_least, const KnownPartners& partners) override;
  void note_quiet(Epoch epoch, bool landed) override;

 private:
  /// REQUIRES: a SqliteWrite is open.
  void add_mark(std::int64_t number);

  SqliteConnection& connection_;
  const SqlitePipeline& pipeline_;
  SqliteHistory& history_;
  ByteLock lock_;
  bool is_ours_ = false;
};

/// The epoch of the pipeline's last leadership, as of the open snapshot. Throws Error.
Epoch stored_epoch(SqliteConnection& connection, int pipeline);

}  // namespace lockstep
