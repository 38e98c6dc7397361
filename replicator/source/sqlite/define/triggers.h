// The triggers that write into the outbox which rows changed: an application's SQLite runs them, of any
// version, in the application's statement.
//
// Q1. They cannot make that statement fail: they copy values of columns and call nothing but typeof(), hex()
//     and quote(), and they only append. (The statement's conflict clause replaces the one of an insert in a
//     trigger, so a unique index on the outbox could fail it.) Only an index of the application's own may
//     call more, for its own calls count as the statement's too.
// Q2. They see every change, rows that `replace` deletes too, for which no delete trigger fires: before the
//     statement, the rows that are the same as the new one in any unique index, or have its number (rowid),
//     are taken for changed. (Unseen: rows that a later trigger makes the same; and writes past triggers, as
//     by sqlite3_blob_write().)
// Q3. An update counts when a counted column or a captured one changed at all: 1 to 1.0 and 'a' to 'A' are
//     changes, under every collation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/source/sqlite/catalog/table.h"

namespace lockstep {

struct SqliteCaptureCode {
  int id = 0;
  std::vector<std::string> value;  ///< the columns whose values go into the outbox: names
  /// An update counts if one of these changed, or one of the value's. None: every update.
  std::optional<std::vector<std::string>> counted = {};
  bool has_limit = false;  ///< leaves changes out when the outbox is full
};

struct SqliteTrigger {
  std::string name;
  std::string table;  ///< its name
  std::string sql;    ///< create trigger …
};

/// The triggers of a capture. `schema` is the beginning of Lockstep's names. REQUIRES: the table has the
/// columns that the capture names.
std::vector<SqliteTrigger> capture_triggers(const std::string& schema, const SqliteTable& table,
                                            const SqliteCaptureCode& capture);

/// The beginning of the names of a capture's triggers.
std::string trigger_prefix(const std::string& schema, int capture);

}  // namespace lockstep
