// Complaints of SQLite, as an Error. They are judged by result code (sqlite.org/rescode.html), never by their
// text.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "replicator/error.h"

struct sqlite3;

namespace lockstep {

/// Retryable if another process has the file, if the disk is full or fails, and for lack of memory.
class SqliteError : public Error {
 public:
  SqliteError(Parts parts, int code) : Error(std::move(parts)), code_(code) {}

  /// The extended result code.
  int code() const { return code_; }

  /// The primary result code: SQLITE_BUSY for each of its kinds.
  int primary_code() const { return code_ & 0xff; }

  /// Whether the file is damaged, or none of SQLite's.
  bool is_damage() const;

 private:
  int code_;
};

/// The error of the last call on `database`, which returned `code`. `doing` is a phrase such as "opening a
/// batch".
SqliteError sqlite_error(std::string_view doing, sqlite3* database, int code);

}  // namespace lockstep
