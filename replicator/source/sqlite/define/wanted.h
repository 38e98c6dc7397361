// Which triggers a file should have, as its tables and views are now.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "replicator/source/sqlite/catalog/view_reads.h"
#include "replicator/source/sqlite/define/triggers.h"

namespace lockstep {

/// A capture as a configuration wants it, or as `apply` has stored it.
struct SqliteTableCapture {
  int id = 0;
  std::string relation;            ///< the table's name
  std::vector<std::string> value;  ///< the columns whose values go into the outbox
  /// SQL from ?1, a JSON array of the outbox's values (of several columns an array each), to one value a row.
  /// Empty: the outbox has the value itself.
  std::string query;
  /// An update counts only if one of these changed. None: if a column changed that a view reads.
  std::optional<std::vector<std::string>> columns;
  std::set<std::string> views;  ///< of the indices whose documents its values lead to

  bool operator==(const SqliteTableCapture&) const = default;
  auto identity() const { return std::tie(relation, value, query, columns); }
};

/// The reads of views; one that cannot be prepared is left out. Kept, because several captures ask.
class SqliteReads {
 public:
  explicit SqliteReads(SqliteConnection& connection) : connection_(connection) {}

  /// Null: the view cannot be prepared.
  const SqliteViewReads* of(const std::string& view);

 private:
  SqliteConnection& connection_;
  std::map<std::string, std::optional<SqliteViewReads>> reads_;
};

/// The columns, besides those of the value: an update counts if one of them has changed. None: every update
/// counts.
std::optional<std::vector<std::string>> counted_columns(SqliteReads& reads,
                                                        const SqliteTableCapture& capture);

/// Why the table cannot be captured like this: it is gone, or a column is. Empty: it can.
std::string misfit(const std::optional<SqliteTable>& table, const SqliteTableCapture& capture);

/// The triggers of a capture. REQUIRES: misfit() is empty.
std::vector<SqliteTrigger> wanted_triggers(const SqliteConnection& connection, SqliteReads& reads,
                                           const SqliteTable& table, const SqliteTableCapture& capture,
                                           bool has_limit);

}  // namespace lockstep
