// Locks between processes of this machine that end with their holder: bytes of the database file, far behind
// its last one and those that SQLite locks. Nothing is written, and nothing is left behind.
//
// They are open-file-description locks (fcntl(2), F_OFD_SETLK), which are apart from SQLite's own. Closing a
// descriptor of the database would drop SQLite's locks in this process, so a descriptor is kept for the next
// lock of the same file instead, unless the file is deleted.
#pragma once

#include <cstdint>

#include "replicator/source/sqlite/session/sqlite_file.h"

namespace lockstep {

/// The purpose of a byte; each pipeline has its own.
enum class LockPurpose {
  kLead,     ///< exclusive: the leader
  kAwaited,  ///< shared: clients that wait for the leader's next checkpoint
};

/// For one thread.
class ByteLock {
 public:
  /// Throws Error if the file cannot be opened.
  ByteLock(const SqliteFile& file, LockPurpose purpose, int pipeline);
  ~ByteLock();
  ByteLock(const ByteLock&) = delete;
  ByteLock& operator=(const ByteLock&) = delete;

  /// Whether it is ours now, or was already. Throws Error.
  bool try_exclusive();
  void share();
  void let_go();

  /// Whether another process has it. Throws Error.
  bool is_held_elsewhere();

 private:
  /// Whether no other lock is in the way.
  bool set(short type);

  const std::int64_t byte_;
  int descriptor_ = -1;
};

}  // namespace lockstep
