// Ends statements that take long.
#pragma once

#include <chrono>

#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// While this lives, a statement of the connection fails with SQLITE_INTERRUPT once the time is over.
class SqliteTimeLimit {
 public:
  /// REQUIRES: `connection` outlives this, and has no other limit.
  SqliteTimeLimit(SqliteConnection& connection, std::chrono::milliseconds limit);
  ~SqliteTimeLimit();
  SqliteTimeLimit(const SqliteTimeLimit&) = delete;
  SqliteTimeLimit& operator=(const SqliteTimeLimit&) = delete;

 private:
  static int is_over(void* limit);

  SqliteConnection& connection_;
  const std::chrono::steady_clock::time_point end_;
};

/// Whether a statement was ended by a limit, or by SqliteConnection::interrupt().
bool is_interrupted(const SqliteError& error);

}  // namespace lockstep
