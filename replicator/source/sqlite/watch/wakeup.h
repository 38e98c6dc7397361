// Wakes a thread that waits for changes when the file is written, by inotify. A write is reported before the
// commit can be seen, so that thread looks several times.
#pragma once

#include <chrono>
#include <string>

#include "replicator/source/sqlite/session/sqlite_file.h"

namespace lockstep {

/// For one thread.
class SqliteWakeup {
 public:
  /// Watches the folder: -wal and -journal come and go, and the file may be replaced. Without inotify (no
  /// watches are left) wait() only waits.
  explicit SqliteWakeup(const SqliteFile& file);
  ~SqliteWakeup();
  SqliteWakeup(const SqliteWakeup&) = delete;
  SqliteWakeup& operator=(const SqliteWakeup&) = delete;

  /// Waits until the file, its -wal or its -journal was written: true. False after some 250 ms, or
  /// `at_most`: look all the same. Without inotify it waits for `check_every`.
  bool wait(std::chrono::nanoseconds at_most, std::chrono::milliseconds check_every);

 private:
  /// Reads the events; whether one concerns the file.
  bool read_events();

  const std::string name_;  // of the file in its folder
  int descriptor_ = -1;
};

}  // namespace lockstep
