#include "replicator/source/sqlite/session/sql_file.h"

#include <span>

#include "replicator/embedded_file.h"

namespace lockstep {

std::span<const EmbeddedFile> sqlite_sql_files();

std::string_view sqlite_sql(std::string_view name) {
  static const Statements statements = statements_of(sqlite_sql_files());
  return statement_named(statements, name);
}

}  // namespace lockstep
