// The report of a pipeline's leader about itself, in a file next to the database:
// <database>-lockstep-<pipeline>. Not in the database, because a commit a second would wake the application's
// watchers and let -wal grow while the application rests.
//
// The folder is the application's, and Lockstep may be root: no link and no pipe at these names is opened.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "replicator/source/pipeline_status.h"

namespace lockstep {

struct SqliteReport {
  LeaderReport leader;
  /// Since the oldest row of the outbox that was pending at the report was seen first; none was pending:
  /// none.
  std::optional<std::chrono::milliseconds> pending_age = {};
};

/// Replaces the file. Throws Error. `leader.age` does not count: it is as of now.
void write_report(const std::filesystem::path& file, const SqliteReport& report);

/// None: there is no such file. Throws Error for one that Lockstep has not written.
std::optional<SqliteReport> read_report(const std::filesystem::path& file);

/// The remedy if the system refuses the file with this errno.
const char* remedy_of_file_fault(int fault);

/// Removes the file, if any, and a killed leader's unfinished next one. Throws Error.
void remove_report(const std::filesystem::path& file);

}  // namespace lockstep
