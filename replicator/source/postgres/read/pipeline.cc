#include "replicator/source/postgres/read/pipeline.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/migrations.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"
#include "replicator/source/source_absent.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

AppliedIndex applied_index(const PostgresIndex& index) {
  AppliedIndex applied;
  applied.id = index.id;
  applied.alias = index.alias;
  applied.view = index.view;
  applied.routed = index.routed;
  return applied;
}

void add_track(PostgresPipeline& pipeline, PostgresTrack track) {
  std::vector<CaptureId>& captures = pipeline.applied.indices.back().captures;
  if (std::find(captures.begin(), captures.end(), track.capture) == captures.end()) {
    captures.push_back(track.capture);
  }
  pipeline.indices.back().tracks.push_back(std::move(track));
}

// The types that `apply` takes for an _id.
std::string id_type_of(const std::string& name, const std::string& alias) {
  constexpr std::array<std::string_view, 6> kIdTypes = {"smallint", "integer", "bigint",
                                                        "uuid",     "text",    "character varying"};
  if (std::find(kIdTypes.begin(), kIdTypes.end(), name) == kIdTypes.end())
    throw unknown_value("index " + alias, "id_type", name);
  return name;
}

void load_indices(PostgresSession& session, PostgresPipeline& pipeline) {
  std::vector<CaptureId> captures;
  for (const pqxx::row& row :
       session.ask("loading the indices", postgres_sql("load_indices"), pipeline.id())) {
    const IndexId id{row[0].as<int>()};
    if (pipeline.indices.empty() || pipeline.indices.back().id != id) {
      PostgresIndex index;
      index.id = id;
      constexpr std::string_view kTable = "index";
      index.alias = stored<std::string>(row[1], kTable);
      index.view = stored<std::string>(row[2], kTable);
      index.id_type = id_type_of(stored<std::string>(row[3], kTable), index.alias);
      index.routed = stored<bool>(row[4], kTable);
      index.fields =
          nlohmann::json::parse(stored<std::string>(row[5], kTable)).get<std::vector<std::string>>();
      AppliedIndex& applied = pipeline.applied.indices.emplace_back(applied_index(index));
      applied.set_aside = optional_text(row[6]);
      applied.written_by = optional_text(row[10]);
      applied.beside = optional_text(row[11]);
      pipeline.indices.push_back(std::move(index));
    }
    if (row[7].is_null()) continue;
    captures.push_back({row[7].as<int>()});
    add_track(pipeline, {captures.back(), stored<std::string>(row[8], "capture"), row[9].c_str()});
  }
  pipeline.captures = ids_literal(captures);
}

}  // namespace

const PostgresIndex& PostgresPipeline::index(IndexId id) const {
  const auto found = std::find_if(indices.begin(), indices.end(),
                                  [&](const PostgresIndex& index) { return index.id == id; });
  if (found != indices.end()) return *found;
  throw Error({"looking for index " + std::to_string(id.value), "pipeline \"" + applied.name + "\" has none",
               "`apply` changed the pipeline: start again", Retry::kLater});
}

PostgresPipeline load_pipeline(PostgresSession& session, const std::string& schema_name,
                               const std::string& name) {
  const pqxx::row row = require_applied(session, schema_name, name,
                                        "select id, identity::text, coalesce(applied_at::text, '') "
                                        "from {schema}.pipeline where name = $1");
  PostgresPipeline pipeline;
  pipeline.applied.id = row[0].as<int>();
  pipeline.applied.name = name;
  pipeline.applied.identity = stored<std::string>(row[1], "pipeline");
  pipeline.applied.revision = row[2].c_str();
  load_indices(session, pipeline);
  return pipeline;
}

pqxx::row require_applied(PostgresSession& session, const std::string& schema_name,
                          const std::string& pipeline, std::string_view statement) {
  const SourceAbsent not_applied("pipeline \"" + pipeline +
                                 "\" has not been applied to this source; run `lockstep apply` first");
  const pqxx::result exists = session.ask(
      "looking for lockstep's schema", "select to_regclass($1) is not null", session.schema() + ".pipeline");
  if (!exists[0][0].as<bool>()) throw not_applied;
  {
    PostgresTransaction direct(session, "reading lockstep's migrations", Isolation::kEachStatement);
    require_migrated(direct, schema_name);
  }
  const pqxx::result found = session.ask("loading the pipeline", statement, pipeline);
  if (found.empty()) throw not_applied;
  return found[0];
}

}  // namespace lockstep
