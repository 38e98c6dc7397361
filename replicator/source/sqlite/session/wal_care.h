// Keeps the -wal file small despite a reader. SQLite writes it from the beginning again only after everything
// in it was copied into the database, at a moment without readers: a reader without gaps lets it grow with
// every write. Never waits for a lock.
#pragma once

#include <chrono>
#include <cstdint>

#include "replicator/clock.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteWalCare {
 public:
  /// Both references must outlive this.
  SqliteWalCare(SqliteConnection& connection, const Clock& clock) : connection_(connection), clock_(clock) {}

  /// Makes a gap when -wal is large. REQUIRES: no transaction is open.
  void before_reading();

  /// Empties -wal after some seconds without a write, once: call it again and again while there is nothing to
  /// do. An ordinary copy of a backup over the file then comes out right, in spite of our open connection.
  /// REQUIRES: no transaction is open.
  void while_idle();

 private:
  std::uintmax_t size() const;

  SqliteConnection& connection_;
  const Clock& clock_;
  SteadyTime opened_at_{};
  Every copy_{std::chrono::milliseconds(50)};
  std::int64_t version_ = 0;  // data_version() at the last look
  SteadyTime written_at_{};   // when it was another one, or we have read
  bool is_emptied_ = false;   // since then
};

}  // namespace lockstep
