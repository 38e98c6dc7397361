// The answer to `wait` out of a SQLite file. Elasticsearch has everything up to a point when P1 to P3 of
// source/postgres/watch/applied_watch.h hold, and every trigger is there in the snapshot in which they hold:
// a migration may just have dropped some, and its later writes are in no outbox. A transaction has no number
// here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "replicator/config/config.h"
#include "replicator/source/applied_watch.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/byte_lock.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteAppliedWatch final : public AppliedWatch {
 public:
  /// As open_applied_watch().
  explicit SqliteAppliedWatch(const Config& config);

  /// Throws UsageError for a transaction.
  std::unique_ptr<AppliedPoint> begin(std::optional<TransactionId> transaction) override;
  std::vector<SearchedIndex> searched_indices() override;
  bool is_led() override;

 private:
  friend class SqliteAppliedPoint;

  /// Why changes are lost in the snapshot that is open; empty: none are.
  std::string lost_changes();

  /// An index whose documents may be of other definitions than the applied ones, and the remedy, in the open
  /// snapshot; empty: there is none.
  std::string altered_index();

  SqliteConnection connection_;
  const std::string name_;
  const int pipeline_;
  ByteLock lead_;
  std::optional<std::int64_t> whole_at_;  // the version of the schema at which no changes were lost
  std::optional<std::pair<std::int64_t, std::string>> unaltered_at_;  // likewise, and the definitions
  ByteLock awaited_;  // shared while a point is pending: the leader looks at it
};

}  // namespace lockstep
