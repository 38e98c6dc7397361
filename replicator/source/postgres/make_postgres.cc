#include "replicator/source/postgres/make_postgres.h"

#include <libpq-fe.h>

#include <pqxx/version>

#include "replicator/source/postgres/define/schema_reader.h"
#include "replicator/source/postgres/define/source_definition.h"
#include "replicator/source/postgres/read/source.h"
#include "replicator/source/postgres/view_reader.h"
#include "replicator/source/postgres/watch/applied_watch.h"
#include "replicator/source/postgres/watch/status.h"
#include "replicator/source/postgres/watch/status_writer.h"

namespace lockstep {

std::unique_ptr<Source> make_postgres_source(const Config& config, const std::string& purpose) {
  return std::make_unique<PostgresSource>(config, purpose);
}

std::unique_ptr<AppliedWatch> make_postgres_applied_watch(const Config& config) {
  return std::make_unique<PostgresAppliedWatch>(config);
}

std::unique_ptr<StatusReader> make_postgres_status_reader(const Config& config) {
  return std::make_unique<PostgresStatus>(config);
}

std::unique_ptr<StatusWriter> make_postgres_status_writer(const Config& config) {
  return std::make_unique<PostgresStatusWriter>(config);
}

std::unique_ptr<ViewReader> make_postgres_view_reader(const Config& config) {
  return std::make_unique<PostgresViewReader>(config);
}

std::unique_ptr<SchemaReader> make_postgres_schema_reader(const SourceConfig& source) {
  return std::make_unique<PostgresSchemaReader>(source);
}

std::string postgres_libraries() {
  const int number = ::PQlibVersion();  // 150013 is 15.13
  return "libpq " + std::to_string(number / 10'000) + "." + std::to_string(number % 10'000) + ", libpqxx " +
         PQXX_VERSION;
}

std::unique_ptr<SourceDefinition> make_postgres_definition(const Config& config) {
  return std::make_unique<PostgresSourceDefinition>(config);
}

}  // namespace lockstep
