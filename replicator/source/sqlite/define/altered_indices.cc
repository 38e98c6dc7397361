#include "replicator/source/sqlite/define/altered_indices.h"

#include <optional>
#include <utility>

#include "replicator/listed.h"
#include "replicator/source/index_definition.h"
#include "replicator/source/sqlite/catalog/index_text.h"
#include "replicator/source/sqlite/catalog/view_parts.h"
#include "replicator/source/sqlite/define/plan.h"
#include "replicator/source/sqlite/session/sql_file.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/source/template.h"
#include "replicator/warnings.h"

namespace lockstep {
namespace {

constexpr const char* kNoting = "noting the definition of an index";

struct Found {
  std::int64_t schema_version = 0;
  SqliteApplied applied;
  std::vector<SqliteAlteredIndex> indices;
};

Found find(SqliteConnection& connection, const std::string& pipeline) {
  const SqliteSnapshot snapshot(connection, kNoting);
  Found found{connection.schema_version(), load_applied(connection, pipeline), {}};
  if (found.applied.pipeline) found.indices = altered_indices(connection, found.applied);
  return found;
}

// Not found out again behind the write lock, for the application waits.
bool is_still(SqliteConnection& connection, const std::string& pipeline, const Found& found) {
  return connection.schema_version() == found.schema_version &&
         load_applied(connection, pipeline) == found.applied;
}

void note(SqliteConnection& connection, const SqliteApplied& applied, const SqliteAlteredIndex& index,
          const std::string& definition, const std::string& why) {
  Filling noted;
  noted.holes = {{"schema", connection.schema()},
                 {"pipeline", std::to_string(*applied.pipeline)},
                 {"id", std::to_string(index.id)},
                 {"definition", quoted_text(definition)},
                 {"reason", quoted_text(why)}};
  noted.blocks["jobs"];
  if (!why.empty() && index.is_followed) {
    for (const char* const kind : {"comparison", "sweep"})
      noted.blocks["jobs"].push_back({{{"kind", quoted_text(kind)}}, {}});
  }
  connection.execute(kNoting, fill_template(sqlite_sql("note_definition"), noted));
}

}  // namespace

std::string SqliteAlteredIndex::text() const {
  if (!changed.empty()) return warning("documents_changed", {alias, listed(changed)});
  return warning("compared", {alias, reason_to_compare(replaced)});
}

std::vector<SqliteAlteredIndex> altered_indices(SqliteConnection& connection, const SqliteApplied& applied) {
  SqliteReads reads(connection);
  std::vector<SqliteAlteredIndex> altered;
  for (const auto& [alias, index] : applied.indices) {
    const std::optional<SqliteTable> view = find_table(connection, index.view);
    const SqliteViewReads* const read = view ? reads.of(view->name) : nullptr;
    if (read == nullptr) continue;  // reading it reports why
    const SqliteViewParts parts = read_view_parts(connection, *read);
    SqliteAlteredIndex each{alias,
                            index.id,
                            index.followed,
                            !index.beside,
                            index.definition,
                            to_text(parts),
                            changed_parts(parts, index.definition),
                            noted_parts(index.definition)};
    if (!each.changed.empty() || !each.replaced.empty()) altered.push_back(std::move(each));
  }
  return altered;
}

std::int64_t note_altered_indices(SqliteConnection& connection, const std::string& pipeline) {
  while (true) {
    const Found found = find(connection, pipeline);
    std::vector<std::pair<const SqliteAlteredIndex*, std::string>> notes;
    for (const SqliteAlteredIndex& index : found.indices) {
      std::string definition = with_note(index.stored, index.changed);
      if (definition != index.stored) notes.emplace_back(&index, std::move(definition));
    }
    if (notes.empty()) return found.schema_version;
    SqliteWrite write(connection, kNoting);
    if (!is_still(connection, pipeline, found)) continue;
    for (const auto& [index, definition] : notes) note(connection, found.applied, *index, definition, "");
    write.commit(kNoting);
    connection.sync();
    return found.schema_version;
  }
}

std::vector<std::string> compare_put_back(SqliteConnection& connection, const std::string& pipeline) {
  Found found = find(connection, pipeline);
  std::erase_if(found.indices, [](const SqliteAlteredIndex& index) { return !index.changed.empty(); });
  if (found.indices.empty()) return {};
  SqliteWrite write(connection, kNoting);
  if (!is_still(connection, pipeline, found)) return {};
  std::vector<std::string> done;
  for (const SqliteAlteredIndex& index : found.indices) {
    const std::string why = reason_to_compare(index.replaced);
    note(connection, found.applied, index, index.now, why);
    done.push_back(why + ": index " + index.alias + " is compared with its view");
  }
  write.commit(kNoting);
  return done;
}

}  // namespace lockstep
