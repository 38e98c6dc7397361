// Shows a leader that the file went back to an older state: each of its saves leaves another random number in
// the checkpoint, and only the newest state of the file has the last one. Numbers of rows do not show it: the
// application gives them again.
#pragma once

#include <cstdint>
#include <optional>

#include "replicator/document_version.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// For one connection.
class SqliteHistory {
 public:
  /// A number for the next save.
  static std::int64_t next();

  /// The leader of `epoch` has committed a save with this number.
  void saved(Epoch epoch, std::int64_t number) { last_ = Last{epoch, number}; }

  /// The number of the last save. None: this connection has saved nothing yet.
  std::optional<std::int64_t> last() const { return last_ ? std::optional(last_->number) : std::nullopt; }

  /// Whether the file has the last save still, or one of a later leader. Throws Error.
  bool goes_on(SqliteConnection& connection, int pipeline) const;

 private:
  struct Last {
    Epoch epoch;
    std::int64_t number = 0;
  };
  std::optional<Last> last_;
};

/// Notes in the file that it went back: the next leader compares everything. The error for the process that
/// has noticed it. REQUIRES: no transaction is open. Throws Error if it cannot be noted.
Error note_gone_back(SqliteConnection& connection);

}  // namespace lockstep
