// The stream of changes in a SQLite file: a position is the id of a row of the outbox.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "replicator/source/change_log.h"
#include "replicator/source/sqlite/read/due_finder.h"
#include "replicator/source/sqlite/read/first_seen.h"
#include "replicator/source/sqlite/read/history.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/byte_lock.h"
#include "replicator/source/sqlite/session/connection.h"
#include "replicator/source/sqlite/session/wal_care.h"
#include "replicator/source/sqlite/watch/wakeup.h"

namespace lockstep {

class SqliteChangeLog final : public ChangeLog {
 public:
  /// `source` is that of `connection`, for a second one. The references must outlive this.
  SqliteChangeLog(SqliteConnection& connection, const SqlitePipeline& pipeline, SqliteHistory& history,
                  const SourceConfig& source)
      : connection_(connection),
        pipeline_(pipeline),
        history_(history),
        finder_(source),
        wal_care_(connection, clock_),
        wakeup_(connection.file()),
        awaited_(connection.file(), LockPurpose::kAwaited, pipeline.id()) {}

  std::unique_ptr<SourceTransaction> begin(Epoch epoch) override;
  std::unique_ptr<SourceTransaction> begin_repair() override;
  std::unique_ptr<PageConnection> page_connection() override { return nullptr; }
  bool cancel_reading() override { return false; }
  std::unique_ptr<SourceSnapshot> read() override;
  Position checkpoint() override;
  bool has_passed(const Position& position) override;
  bool may_have_changed(const Position& position) override;
  bool await_change(const Position& position, std::chrono::milliseconds check_every,
                    std::chrono::milliseconds at_most) override;
  std::chrono::milliseconds save_within() override;
  UnfinishedJobs jobs() override;
  std::vector<DueList> due() override;
  std::optional<FoundDue> find_due(const AppliedIndex& index) override;

 private:
  /// The result of `open`, once the definitions for its rendering are noted.
  template <typename Reading, typename Open>
  std::unique_ptr<Reading> noted(const Open& open);

  SqliteConnection& connection_;
  const SqlitePipeline& pipeline_;
  SqliteHistory& history_;
  SqliteDueFinder finder_;
  const SystemClock clock_{};
  SqliteWalCare wal_care_;
  SqliteWakeup wakeup_;
  ByteLock awaited_;
  FirstSeen first_seen_;
  bool leads_ = false;
  std::optional<std::int64_t> noted_at_;  // the version of the schema for which altered indices are noted
};

}  // namespace lockstep
