// Transactions on a SqliteConnection: one that reads a snapshot, and one that writes.
//
// A snapshot cannot be written in if another connection has committed since it was taken
// (SQLITE_BUSY_SNAPSHOT), so its writes are made in a transaction of its own that follows.
#pragma once

#include <string_view>

#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// Reads one committed state of the file. Temporary tables may be written. Ends with its scope. REQUIRES: no
/// other transaction of the connection is open.
class SqliteSnapshot {
 public:
  /// Throws SqliteError.
  SqliteSnapshot(SqliteConnection& connection, std::string_view doing);
  ~SqliteSnapshot() { end(); }
  SqliteSnapshot(const SqliteSnapshot&) = delete;
  SqliteSnapshot& operator=(const SqliteSnapshot&) = delete;

  void end();

 private:
  SqliteConnection& connection_;
  bool is_open_ = true;
};

/// Has the file's write lock from the beginning on, which it takes when the application is not likely to want
/// it. Rolls back unless commit() was called. Keep it short: the application waits, or fails if it does not
/// wait.
class SqliteWrite {
 public:
  /// Throws SqliteError if the lock is not available.
  SqliteWrite(SqliteConnection& connection, std::string_view doing);
  ~SqliteWrite();
  SqliteWrite(const SqliteWrite&) = delete;
  SqliteWrite& operator=(const SqliteWrite&) = delete;

  /// Not durable before SqliteConnection::sync(). Throws SqliteError.
  void commit(std::string_view doing);

 private:
  SqliteConnection& connection_;
  bool is_open_ = true;
};

}  // namespace lockstep
