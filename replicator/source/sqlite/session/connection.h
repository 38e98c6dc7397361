// One connection to the application's SQLite file: how it is opened, and the statements that it has prepared.
//
// The file stays the application's: nothing here changes a setting that the file keeps (journal mode,
// auto_vacuum, user_version), creates the file, or checkpoints for it in a commit.
//
// No file of Lockstep may open the database or its -shm by a descriptor of its own and close it: that would
// drop every lock that this process has on it (POSIX). byte_lock.h opens one, and keeps it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "replicator/config/config.h"
#include "replicator/source/sqlite/session/sqlite_error.h"
#include "replicator/source/sqlite/session/sqlite_file.h"

struct sqlite3;
struct sqlite3_file;
struct sqlite3_stmt;

namespace lockstep {

/// Of the texts in a file, with SQLite's own numbers.
enum class SqliteEncoding : unsigned char { kUtf8 = 1, kUtf16LittleEndian = 2, kUtf16BigEndian = 3 };

/// For one thread, apart from interrupt().
class SqliteConnection {
 public:
  /// Opens the file of `source`. Throws SqliteError, SourceAbsent as SqliteFile does, and UsageError for a
  /// source.schema that can begin no name.
  explicit SqliteConnection(const SourceConfig& source);
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  sqlite3* handle() { return handle_; }
  const SqliteFile& file() const { return file_; }

  /// The beginning of the names of Lockstep's own tables.
  const std::string& schema() const { return schema_; }

  /// The statement with each `{schema}` replaced by schema().
  std::string sql(std::string_view statement) const;

  /// Runs statements that return nothing, with `{schema}` filled in. Throws SqliteError.
  void execute(std::string_view doing, std::string_view statements);

  /// How long a statement waits for a lock at first.
  static constexpr std::chrono::milliseconds kPatience{5'000};

  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  /// Throws SqliteError.
  SqliteEncoding encoding();

  /// Rows that the last statement has inserted, changed or deleted.
  std::int64_t changes() const;

  /// Another one once another connection has committed. Throws SqliteError.
  std::int64_t data_version();

  /// Another one when a table, view, trigger or index was made, changed or dropped. Throws SqliteError.
  std::int64_t schema_version();

  /// Makes everything durable that this connection sees, by fsync and without a lock, under every
  /// `synchronous` and journal mode. Does nothing if it already is. Throws Error.
  void sync();

  /// Makes the statement that runs fail with SQLITE_INTERRUPT, from any thread. May come too early or late.
  void interrupt();

  /// Waits for a moment at which no other connection is likely to want the write lock: right after a commit,
  /// or after a while without one. At most kLongestWatch. Throws SqliteError.
  void await_moment_to_write();

  static constexpr std::chrono::milliseconds kLongestWatch{20};

  /// Throws Error, retryable, if another file has taken the path since this one was opened. Later steps see
  /// the file as it is, also if it was written past SQLite. REQUIRES: no transaction is open.
  void require_same_file();

 private:
  friend class SqliteStatement;
  friend class SqliteWrite;

  void sync_files();

  /// The -wal as SQLite has it open; null in the other journal modes. Throws SqliteError.
  sqlite3_file* wal();

  static int wait_for_lock(void* connection, int attempt);

  /// A prepared statement that is not in use.
  sqlite3_stmt* take(std::string_view doing, const std::string& text);
  void give_back(const std::string& text, sqlite3_stmt* statement);

  const std::string schema_;
  const SqliteFile file_;
  sqlite3* handle_ = nullptr;
  std::chrono::milliseconds patience_ = kPatience;
  std::chrono::steady_clock::time_point waits_since_{};
  std::int64_t written_at_ = 0;  // SqliteFile::look() when pages were last forgotten
  std::optional<SqliteEncoding> encoding_;
  std::optional<std::int64_t> synced_version_;               // data_version() at the last sync()
  bool has_written_ = false;                                 // since then
  std::optional<std::int64_t> quiet_version_;                // data_version() for all of the last watch
  std::unordered_map<std::string, sqlite3_stmt*> prepared_;  // by text; those not in use
};

/// An identifier, quoted for SQL.
std::string quote_sqlite_name(std::string_view name);

}  // namespace lockstep
