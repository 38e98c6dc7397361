#include "replicator/source/sqlite/session/sql_file.h"

#include <span>

#include "replicator/embedded_file.h"

namespace lockstep {

std::span<const EmbeddedFile> sqlite_sql_files();

std::string_view sqlite_sql(std::string_view name) {
  return sql_named(sqlite_sql_files(), name);
}

}  // namespace lockstep
