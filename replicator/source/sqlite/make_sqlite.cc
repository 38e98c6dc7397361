#include "replicator/source/sqlite/make_sqlite.h"

#include <sqlite3.h>

#include "replicator/source/sqlite/define/schema_reader.h"
#include "replicator/source/sqlite/define/source_definition.h"
#include "replicator/source/sqlite/read/source.h"
#include "replicator/source/sqlite/view_reader.h"
#include "replicator/source/sqlite/watch/applied_watch.h"
#include "replicator/source/sqlite/watch/status.h"
#include "replicator/source/sqlite/watch/status_writer.h"

namespace lockstep {

std::string sqlite_libraries() {
  return std::string("SQLite ") + sqlite3_libversion();
}

std::unique_ptr<Source> make_sqlite_source(const Config& config, const std::string& /*purpose*/) {
  return std::make_unique<SqliteSource>(config);  // the file has no list of its connections
}

std::unique_ptr<AppliedWatch> make_sqlite_applied_watch(const Config& config) {
  return std::make_unique<SqliteAppliedWatch>(config);
}

std::unique_ptr<StatusReader> make_sqlite_status_reader(const Config& config) {
  return std::make_unique<SqliteStatus>(config);
}

std::unique_ptr<StatusWriter> make_sqlite_status_writer(const Config& config) {
  return std::make_unique<SqliteStatusWriter>(config);
}

std::unique_ptr<SourceDefinition> make_sqlite_definition(const Config& config) {
  return std::make_unique<SqliteSourceDefinition>(config);
}

std::unique_ptr<ViewReader> make_sqlite_view_reader(const Config& config) {
  return std::make_unique<SqliteViewReader>(config);
}

std::unique_ptr<SchemaReader> make_sqlite_schema_reader(const SourceConfig& source) {
  return std::make_unique<SqliteSchemaReader>(source);
}

}  // namespace lockstep
