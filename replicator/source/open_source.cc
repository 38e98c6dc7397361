#include "replicator/source/open_source.h"

#include "replicator/error.h"
#include "replicator/source/postgres/make_postgres.h"
#include "replicator/source/sqlite/make_sqlite.h"

namespace lockstep {
namespace {

/// How one kind of database makes each contract.
struct Database {
  std::unique_ptr<Source> (*source)(const Config& config, const std::string& purpose);
  std::unique_ptr<AppliedWatch> (*applied_watch)(const Config& config);
  std::unique_ptr<StatusReader> (*status_reader)(const Config& config);
  std::unique_ptr<StatusWriter> (*status_writer)(const Config& config);
  std::unique_ptr<SourceDefinition> (*definition)(const Config& config);
  std::unique_ptr<SchemaReader> (*schema_reader)(const SourceConfig& source);
  std::unique_ptr<ViewReader> (*view_reader)(const Config& config);
};

Database database_of(const SourceConfig& source) {
  switch (source.kind) {
    case SourceConfig::Kind::kPostgresql:
      return {make_postgres_source,        make_postgres_applied_watch, make_postgres_status_reader,
              make_postgres_status_writer, make_postgres_definition,    make_postgres_schema_reader,
              make_postgres_view_reader};
    case SourceConfig::Kind::kSqlite:
      return {make_sqlite_source,        make_sqlite_applied_watch, make_sqlite_status_reader,
              make_sqlite_status_writer, make_sqlite_definition,    make_sqlite_schema_reader,
              make_sqlite_view_reader};
  }
  throw UsageError("source.url: this build knows no such database; use a postgresql:// or sqlite: url");
}

}  // namespace

void require_known_kind(const SourceConfig& source) {
  database_of(source);
}

std::unique_ptr<Source> open_source(const Config& config, const std::string& purpose) {
  return database_of(config.source).source(config, purpose);
}

std::unique_ptr<AppliedWatch> open_applied_watch(const Config& config) {
  return database_of(config.source).applied_watch(config);
}

std::unique_ptr<StatusReader> open_status_reader(const Config& config) {
  return database_of(config.source).status_reader(config);
}

std::unique_ptr<StatusWriter> open_status_writer(const Config& config) {
  return database_of(config.source).status_writer(config);
}

std::unique_ptr<SchemaReader> open_schema_reader(const SourceConfig& source) {
  return database_of(source).schema_reader(source);
}

std::unique_ptr<ViewReader> open_view_reader(const Config& config) {
  return database_of(config.source).view_reader(config);
}

std::string source_libraries() {
  return postgres_libraries() + ", " + sqlite_libraries();
}

std::unique_ptr<SourceDefinition> open_source_definition(const Config& config) {
  return database_of(config.source).definition(config);
}

}  // namespace lockstep
