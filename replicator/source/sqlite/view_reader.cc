#include "replicator/source/sqlite/view_reader.h"

#include "replicator/source/sqlite/define/design.h"
#include "replicator/source/sqlite/read/snapshot.h"
#include "replicator/source/sqlite/read/views.h"
#include "replicator/source/sqlite/session/transaction.h"

namespace lockstep {

SqliteViewReader::SqliteViewReader(const Config& config) : connection_(config.source) {
  add_id_function(connection_);
  const SqliteSnapshot snapshot(connection_, "looking for the views");
  const SqlitePipelineDesign design = design_pipeline(connection_, config, config.indices);
  require_no_errors(design.findings);
  pipeline_.applied.name = config.pipeline;
  for (const SqliteIndexDesign& each : design.indices) {
    const IndexId id{static_cast<int>(pipeline_.indices.size()) + 1};
    SqliteIndex index;
    index.id = id;
    index.alias = each.alias;
    index.view = quote_sqlite_name(each.view);
    index.id_type = sqlite_id_type(each.id_type, each.alias);
    index.routed = each.routed;
    index.fields = sqlite_fields(each.fields, each.json_fields);
    pipeline_.applied.indices.push_back(
        {.id = id, .alias = each.alias, .view = index.view, .routed = each.routed});
    pipeline_.indices.push_back(std::move(index));
  }
}

std::unique_ptr<SourceSnapshot> SqliteViewReader::read() {
  return std::make_unique<SqliteSourceSnapshot>(connection_, pipeline_);
}

}  // namespace lockstep
