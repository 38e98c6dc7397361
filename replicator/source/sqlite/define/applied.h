// The objects of earlier runs of `apply` in the file for one pipeline, and the triggers as they are now, even
// if they were changed since.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/source/define/index_plan.h"
#include "replicator/source/sqlite/define/wanted.h"

namespace lockstep {

struct SqliteAppliedTrigger {
  std::string table;
  std::string sql;

  bool operator==(const SqliteAppliedTrigger&) const = default;
};

struct SqliteApplied {
  bool has_tables = false;               ///< Lockstep's own
  int pipelines = 0;                     ///< how many the file has
  std::optional<int> pipeline;           ///< its id; none before the first apply
  std::optional<std::int64_t> max_rows;  ///< of the outbox
  int last_pipeline = 0;                 ///< the greatest ids that were ever given
  int last_index = 0;
  int last_capture = 0;
  std::vector<SqliteTableCapture> captures;
  AppliedIndices indices;
  std::map<std::string, SqliteAppliedTrigger> triggers;  ///< by name; of every pipeline

  bool operator==(const SqliteApplied&) const = default;
};

/// `pipeline` is the pipeline's name. REQUIRES: the tables have no migrations of a newer Lockstep. Throws
/// Error for a row that no Lockstep has written.
SqliteApplied load_applied(SqliteConnection& connection, const std::string& pipeline);

/// The JSON text of names, and back. Throws Error for any other text.
std::string names_text(const std::vector<std::string>& names);
std::vector<std::string> names_in(std::string_view text);

/// Whether these triggers are the same, though SQLite has rewritten the beginning of `stored`.
bool is_same_trigger(const SqliteAppliedTrigger& stored, const SqliteTrigger& wanted);

/// Whether triggers of these captures look at the limit of the outbox.
bool looks_at_limit(const SqliteConnection& connection, const SqliteApplied& applied);

}  // namespace lockstep
