#include "replicator/source/sqlite/define/differences.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "replicator/source/sqlite/catalog/index_text.h"
#include "replicator/source/sqlite/catalog/view_shape.h"
#include "replicator/source/sqlite/define/altered_indices.h"
#include "replicator/source/sqlite/define/applied.h"
#include "replicator/source/sqlite/define/plan.h"
#include "replicator/source/sqlite/session/sql_file.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/source/template.h"
#include "replicator/warnings.h"

namespace lockstep {
namespace {

// A captured table, and its triggers that differ from the wanted ones.
struct Broken {
  std::string table;
  std::string misfit;                 // why it cannot be captured at all; empty: it can
  std::vector<SqliteTrigger> wanted;  // missing or others
  std::vector<std::string> excess;    // names
  bool is_missing = false;            // one at least is; if there is a misfit, all are
  std::set<int> captures;

  bool empty() const { return misfit.empty() && wanted.empty() && excess.empty(); }
};

void compare_triggers(SqliteConnection& connection, const SqliteApplied& applied,
                      const SqliteTableCapture& capture, const std::vector<SqliteTrigger>& wanted,
                      Broken& broken) {
  std::set<std::string> names;
  for (const SqliteTrigger& trigger : wanted) {
    names.insert(trigger.name);
    const auto stored = applied.triggers.find(trigger.name);
    if (stored != applied.triggers.end() && is_same_trigger(stored->second, trigger)) continue;
    if (stored == applied.triggers.end()) broken.is_missing = true;
    broken.wanted.push_back(trigger);
    broken.captures.insert(capture.id);
  }
  const std::string prefix = trigger_prefix(connection.schema(), capture.id);
  for (const auto& [name, trigger] : applied.triggers) {
    if (name.starts_with(prefix) && !names.contains(name)) broken.excess.push_back(name);
  }
}

bool has_trigger(const SqliteConnection& connection, const SqliteApplied& applied, int capture) {
  const std::string prefix = trigger_prefix(connection.schema(), capture);
  const auto found = applied.triggers.lower_bound(prefix);
  return found != applied.triggers.end() && found->first.starts_with(prefix);
}

std::vector<Broken> find_broken(SqliteConnection& connection, const SqliteApplied& applied) {
  SqliteReads reads(connection);
  const bool has_limit = looks_at_limit(connection, applied);
  std::map<std::string, Broken> tables;
  for (const SqliteTableCapture& capture : applied.captures) {
    Broken& broken = tables[capture.relation];
    broken.table = capture.relation;
    const std::optional<SqliteTable> table = find_table(connection, capture.relation);
    const std::string why = misfit(table, capture);
    if (!why.empty()) {
      broken.misfit = why;
      broken.is_missing = !has_trigger(connection, applied, capture.id);
      continue;
    }
    compare_triggers(connection, applied, capture,
                     wanted_triggers(connection, reads, *table, capture, has_limit), broken);
  }
  std::vector<Broken> found;
  for (auto& [name, broken] : tables) {
    if (!broken.empty()) found.push_back(std::move(broken));
  }
  return found;
}

std::string in_words(const Broken& broken) {
  if (!broken.misfit.empty())
    return warning(broken.is_missing ? "changes_missed" : "tracks_misfit", {broken.misfit});
  return warning(broken.is_missing ? "triggers_gone" : "triggers_misfit", {broken.table});
}

void add_capture_differences(SqliteConnection& connection, const SqliteApplied& applied,
                             std::vector<SqliteDifference>& differences) {
  for (const Broken& broken : find_broken(connection, applied))
    differences.push_back({in_words(broken), broken.is_missing});
}

// A kept generation continues without later columns of its view.
void add_missing_fields(const std::string& alias, const AppliedIndexRow& index, const SqliteTable& view,
                        std::vector<SqliteDifference>& differences) {
  if (index.was_swapped) return;
  std::string names;
  for (const std::string& field : shape_of(view, {}).fields) {
    const bool is_known = std::find(index.fields.begin(), index.fields.end(), field) != index.fields.end();
    if (!is_known) names += (names.empty() ? "" : ", ") + field;
  }
  if (!names.empty()) differences.push_back({warning("fields_missing", {alias, names, view.name})});
}

void add_view_differences(SqliteConnection& connection, const SqliteApplied& applied,
                          std::vector<SqliteDifference>& differences) {
  std::set<std::string> altered;
  for (const SqliteAlteredIndex& index : altered_indices(connection, applied)) {
    altered.insert(index.alias);
    differences.push_back({index.text()});
  }
  for (const auto& [alias, index] : applied.indices) {
    const std::optional<SqliteTable> view = find_table(connection, index.view);
    if (!view) {
      differences.push_back({warning("view_of_index_gone", {index.view, alias})});
    } else if (!altered.contains(alias)) {
      add_missing_fields(alias, index, *view, differences);
    }
  }
}

void add_comparisons(SqliteConnection& connection, const SqliteApplied& applied, const Broken& broken) {
  const std::string reason = "triggers of " + broken.table + " were missing or did not fit";
  for (const auto& [alias, index] : applied.indices) {
    bool is_concerned = false;
    for (const auto& [capture, resolver] : index.tracks) is_concerned |= broken.captures.contains(capture);
    if (!is_concerned) continue;
    Filling added;
    added.holes = {{"schema", connection.schema()},
                   {"pipeline", std::to_string(*applied.pipeline)},
                   {"id", std::to_string(index.id)},
                   {"reason", quoted_text(reason)}};
    for (const char* const kind : {"comparison", "sweep"})
      added.blocks["jobs"].push_back({{{"kind", quoted_text(kind)}}, {}});
    connection.execute("asking for a comparison", fill_template(sqlite_sql("add_comparison"), added));
  }
}

}  // namespace

std::vector<SqliteDifference> differences_from_applied(SqliteConnection& connection,
                                                       const std::string& pipeline) {
  const SqliteApplied applied = load_applied(connection, pipeline);
  std::vector<SqliteDifference> differences;
  if (!applied.pipeline) return differences;
  add_capture_differences(connection, applied, differences);
  add_view_differences(connection, applied, differences);
  return differences;
}

std::string lost_changes(SqliteConnection& connection, const std::string& pipeline) {
  const SqliteApplied applied = load_applied(connection, pipeline);
  std::vector<SqliteDifference> differences;
  if (applied.pipeline) add_capture_differences(connection, applied, differences);
  for (const SqliteDifference& difference : differences) {
    if (difference.loses_changes) return difference.text;
  }
  return {};
}

std::vector<std::string> mend_triggers(SqliteConnection& connection, const std::string& pipeline) {
  constexpr const char* kDoing = "making triggers again";
  const auto is_mendable = [](const Broken& broken) {
    return !broken.wanted.empty() || !broken.excess.empty();
  };
  while (true) {
    SqliteApplied applied;
    std::vector<Broken> all;
    std::int64_t version = 0;
    {
      const SqliteSnapshot snapshot(connection, kDoing);
      version = connection.schema_version();
      applied = load_applied(connection, pipeline);
      all = find_broken(connection, applied);
    }
    if (std::none_of(all.begin(), all.end(), is_mendable)) return {};
    SqliteWrite write(connection, kDoing);
    // Not found out again here, for the application waits behind the lock.
    if (connection.schema_version() != version || load_applied(connection, pipeline) != applied) continue;
    std::vector<std::string> done;
    for (const Broken& broken : all) {
      if (!is_mendable(broken)) continue;
      for (const std::string& name : broken.excess) connection.execute(kDoing, "drop trigger " + name);
      for (const SqliteTrigger& trigger : broken.wanted)
        connection.execute(kDoing, "drop trigger if exists " + trigger.name + ";\n" + trigger.sql);
      add_comparisons(connection, applied, broken);
      done.push_back("made the triggers of table " + broken.table + " again, which " +
                     (broken.is_missing ? "were gone" : "did not fit it any more") +
                     ", and has the indices that follow it compared");
    }
    write.commit(kDoing);
    return done;
  }
}

}  // namespace lockstep
