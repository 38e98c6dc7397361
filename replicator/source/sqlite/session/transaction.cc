#include "replicator/source/sqlite/session/transaction.h"

#include <sqlite3.h>

namespace lockstep {
namespace {

// Some errors have rolled it back already. Nothing can be done about another failure.
void roll_back(SqliteConnection& connection) {
  if (sqlite3_get_autocommit(connection.handle()) == 0)
    sqlite3_exec(connection.handle(), "rollback", nullptr, nullptr, nullptr);
}

}  // namespace

// `begin` alone takes no snapshot, the first statement that reads does.
SqliteSnapshot::SqliteSnapshot(SqliteConnection& connection, std::string_view doing)
    : connection_(connection) {
  connection_.require_same_file();
  connection_.execute(doing, "begin");
  try {
    connection_.execute(doing, "select 1 from sqlite_schema limit 1");
  } catch (...) {
    roll_back(connection_);
    throw;
  }
}

void SqliteSnapshot::end() {
  if (!is_open_) return;
  is_open_ = false;
  // Its writes into temporary tables stay.
  sqlite3_exec(connection_.handle(), "commit", nullptr, nullptr, nullptr);
  roll_back(connection_);
}

SqliteWrite::SqliteWrite(SqliteConnection& connection, std::string_view doing) : connection_(connection) {
  connection_.require_same_file();
  connection_.await_moment_to_write();
  connection_.execute(doing, "begin immediate");
}

SqliteWrite::~SqliteWrite() {
  if (is_open_) roll_back(connection_);
}

void SqliteWrite::commit(std::string_view doing) {
  connection_.execute(doing, "commit");
  is_open_ = false;
  connection_.has_written_ = true;
}

}  // namespace lockstep
