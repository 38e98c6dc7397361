#include "replicator/source/postgres/read/source.h"

namespace lockstep {

PostgresSource::PostgresSource(const Config& config, const std::string& purpose)
    : schema_name_(config.source.schema),
      session_(config.source, config.pipeline + " " + purpose),
      pipeline_(load_pipeline(session_, schema_name_, config.pipeline)),
      lead_(session_, pipeline_),
      changes_(session_, pipeline_, config.source, config.pipeline + " " + purpose),
      dead_letters_(session_),
      outbox_(session_, pipeline_, schema_name_),
      reindexes_(session_, pipeline_, schema_name_) {}

void PostgresSource::reload() {
  pipeline_ = load_pipeline(session_, schema_name_, pipeline_.applied.name);
}

std::string PostgresSource::revision() {
  const pqxx::result row = session_.ask(
      "looking whether `apply` changed the pipeline",
      "select coalesce(applied_at::text, '') from {schema}.pipeline where id = $1", pipeline_.id());
  return row.empty() ? std::string() : row[0][0].c_str();
}

}  // namespace lockstep
