#include "replicator/source/sqlite/session/sqlite_error.h"

#include <sqlite3.h>

#include "replicator/one_line.h"

namespace lockstep {
namespace {

bool worth_a_retry(int primary_code) {
  switch (primary_code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL:
    case SQLITE_SCHEMA:
    case SQLITE_INTERRUPT:
    case SQLITE_READONLY:  // also when the file was renamed over
      return true;
    default:
      return false;
  }
}

std::string remedy_for(int primary_code) {
  switch (primary_code) {
    case SQLITE_ERROR:
      return "does it need a function or collation of the application's own, which lockstep lacks, or has "
             "the "
             "schema changed since an earlier `lockstep apply`? `lockstep check` names the fault";
    case SQLITE_BUSY:
      return "another process keeps the file locked: is a long transaction open, or locking_mode exclusive?";
    case SQLITE_FULL:
      return "make room on the disk";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return "lockstep needs to read and write the file and its folder, as the application's own user or as "
             "root";
    case SQLITE_NOTADB:
      return "check the path; if it was a database, nothing was written: restore it from a backup";
    case SQLITE_CORRUPT:
      return "nothing was written; restore the file from a backup";
    default:
      return {};
  }
}

std::string cause_of(sqlite3* database, int code) {
  if (database == nullptr) return sqlite3_errstr(code);
  const char* const file = sqlite3_db_filename(database, "main");
  if ((code & 0xff) == SQLITE_NOTADB && file != nullptr)
    return std::string(file) + " is not an SQLite database";
  return sqlite3_errmsg(database);
}

}  // namespace

bool SqliteError::is_damage() const {
  return primary_code() == SQLITE_CORRUPT || primary_code() == SQLITE_NOTADB;
}

SqliteError sqlite_error(std::string_view doing, sqlite3* database, int code) {
  const int extended = database == nullptr ? code : sqlite3_extended_errcode(database);
  const int primary = code & 0xff;
  const Retry retry = worth_a_retry(primary) ? Retry::kLater : Retry::kNever;
  const std::string cause = cause_of(database, code);
  return {{std::string(doing), in_one_line(cause), remedy_for(primary), retry, Server::kSource},
          (extended & 0xff) == primary ? extended : code};
}

}  // namespace lockstep
