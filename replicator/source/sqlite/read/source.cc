#include "replicator/source/sqlite/read/source.h"

#include "replicator/source/sqlite/read/views.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {

SqliteSource::SqliteSource(const Config& config)
    : connection_(config.source),
      pipeline_(load_sqlite_pipeline(connection_, config.pipeline)),
      lead_(connection_, pipeline_, history_),
      changes_(connection_, pipeline_, history_, config.source),
      dead_letters_(connection_),
      outbox_(connection_, pipeline_),
      reindexes_(connection_, pipeline_) {
  add_id_function(connection_);
}

void SqliteSource::reload() {
  pipeline_ = load_sqlite_pipeline(connection_, pipeline_.applied.name);
}

std::string SqliteSource::revision() {
  SqliteStatement row(connection_, "looking whether `apply` changed the pipeline",
                      "select revision from {schema}_pipeline where id = ?1", pipeline_.id());
  return row.step() ? std::to_string(stored_integer(row[0], "pipeline")) : std::string();
}

}  // namespace lockstep
