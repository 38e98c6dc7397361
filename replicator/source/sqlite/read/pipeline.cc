#include "replicator/source/sqlite/read/pipeline.h"

#include <algorithm>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/source_absent.h"
#include "replicator/source/sqlite/read/json_text.h"
#include "replicator/source/sqlite/session/migrations.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr const char* kLoadingIndices = "loading the indices";

void load_tracks(SqliteConnection& connection, SqlitePipeline& pipeline, SqliteIndex& index,
                 AppliedIndex& applied) {
  constexpr std::string_view kCapture = "capture";
  SqliteStatement rows(connection, kLoadingIndices,
                       "select c.id, c.value, c.query, t.resolver "
                       "from {schema}_track as t join {schema}_capture as c on c.id = t.capture "
                       "where t.index_id = ?1 order by t.id",
                       index.id.value);
  while (rows.step()) {
    const CaptureId id{static_cast<int>(rows[0].integer())};
    pipeline.captures[id] = {static_cast<int>(stored_texts(rows[1], kCapture).size()),
                             rows[2].optional_text()};
    index.tracks.push_back({id, rows[3].optional_text()});
    if (std::find(applied.captures.begin(), applied.captures.end(), id) == applied.captures.end())
      applied.captures.push_back(id);
  }
}

void load_indices(SqliteConnection& connection, SqlitePipeline& pipeline) {
  constexpr std::string_view kIndex = "index";
  SqliteStatement rows(connection, kLoadingIndices,
                       "select i.id, i.alias, i.view, i.id_type, i.routed, i.fields, i.json_fields, "
                       "case when a.index_id is not null then coalesce(nullif(a.reason, ''), "
                       "'no reason is stored') end, i.written_by, r.alias "
                       "from {schema}_index as i left join {schema}_set_aside as a on a.index_id = i.id "
                       "left join {schema}_reindex as r on r.beside = i.id "
                       "where i.pipeline = ?1 and i.followed <> 0 order by i.id",
                       pipeline.id());
  while (rows.step()) {
    SqliteIndex index;
    index.id = {static_cast<int>(rows[0].integer())};
    index.alias = stored_text(rows[1], kIndex);
    index.view = quote_sqlite_name(stored_text(rows[2], kIndex));
    index.id_type = sqlite_id_type(stored_text(rows[3], kIndex), index.alias);
    index.routed = stored_integer(rows[4], kIndex) != 0;
    index.fields = sqlite_fields(stored_texts(rows[5], kIndex), stored_texts(rows[6], kIndex));
    AppliedIndex applied;
    applied.id = index.id;
    applied.alias = index.alias;
    applied.view = index.view;
    applied.routed = index.routed;
    applied.set_aside = rows[7].optional_text();
    applied.written_by = rows[8].optional_text();
    applied.beside = rows[9].optional_text();
    load_tracks(connection, pipeline, index, applied);
    pipeline.indices.push_back(std::move(index));
    pipeline.applied.indices.push_back(std::move(applied));
  }
}

}  // namespace

SqliteIndex::IdType sqlite_id_type(const std::string& name, const std::string& alias) {
  if (name == "integer") return SqliteIndex::IdType::kInteger;
  if (name == "text") return SqliteIndex::IdType::kText;
  if (name == "any") return SqliteIndex::IdType::kAny;
  throw unknown_value("index " + alias, "id_type", name);
}

std::vector<SqliteField> sqlite_fields(std::vector<std::string> names,
                                       const std::vector<std::string>& holding) {
  std::vector<SqliteField> all;
  for (std::string& name : names) {
    const bool holds_json = std::find(holding.begin(), holding.end(), name) != holding.end();
    all.push_back({std::move(name), holds_json});
  }
  return all;
}

const SqliteIndex& SqlitePipeline::index(IndexId id) const {
  const auto found =
      std::find_if(indices.begin(), indices.end(), [&](const SqliteIndex& index) { return index.id == id; });
  if (found != indices.end()) return *found;
  throw Error({"looking for index " + std::to_string(id.value), "pipeline \"" + applied.name + "\" has none",
               "`apply` changed the pipeline: start again", Retry::kLater});
}

SqlitePipeline load_sqlite_pipeline(SqliteConnection& connection, const std::string& name) {
  const SqliteSnapshot snapshot(connection, "loading the pipeline");
  const SqlitePipelineRow row = require_applied(connection, name);
  SqlitePipeline pipeline;
  pipeline.applied.id = row.id;
  pipeline.applied.name = name;
  pipeline.applied.identity = row.identity;
  pipeline.applied.revision = row.revision;
  load_indices(connection, pipeline);
  return pipeline;
}

SqlitePipelineRow require_applied(SqliteConnection& connection, const std::string& name) {
  const SourceAbsent not_applied("pipeline \"" + name +
                                 "\" has not been applied to this source; run `lockstep apply` first");
  if (!has_own_tables(connection)) throw not_applied;
  require_migrated(connection);
  SqliteStatement row(connection, "loading the pipeline",
                      "select id, identity, revision from {schema}_pipeline where name = ?1", name);
  if (!row.step()) throw not_applied;
  constexpr std::string_view kPipeline = "pipeline";
  return {static_cast<int>(row[0].integer()), stored_text(row[1], kPipeline),
          std::to_string(stored_integer(row[2], kPipeline))};
}

}  // namespace lockstep
