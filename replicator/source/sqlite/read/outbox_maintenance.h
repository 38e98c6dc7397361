// The care of the outbox in a SQLite file. Work under the application's write lock comes in short slices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/outbox_maintenance.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteOutboxMaintenance final : public OutboxMaintenance {
 public:
  /// Both references must outlive this.
  SqliteOutboxMaintenance(SqliteConnection& connection, const SqlitePipeline& pipeline)
      : connection_(connection), pipeline_(pipeline) {}

  void prune() override;
  void keep_small() override;
  std::int64_t size() override;
  bool has_given_up() override;
  bool resume() override;
  std::vector<std::string> follow_parts() override;
  std::vector<std::string> differences_from_applied() override;

 private:
  /// Asks for comparisons of the indices whose definitions are restored.
  void have_put_back_compared();
  /// Removes the rows before this one, slice by slice, for some 20 ms at most. Returns whether none is left.
  bool remove_before(std::int64_t row);

  SqliteConnection& connection_;
  const SqlitePipeline& pipeline_;
  bool is_behind_ = false;                // prune() has not come to its end
  std::optional<std::int64_t> whole_at_;  // the schema's version when no trigger was missing
};

/// Bytes that the outbox takes, about: rows times kOutboxRowBytes. As of now or of the open snapshot.
std::int64_t outbox_bytes(SqliteConnection& connection);

}  // namespace lockstep
