#include "replicator/source/postgres/session/statement.h"

#include <span>

#include "replicator/embedded_file.h"

namespace lockstep {

std::span<const EmbeddedFile> source_sql_files();

std::string_view postgres_sql(std::string_view name) {
  static const Statements statements = statements_of(source_sql_files());
  return statement_named(statements, name);
}

}  // namespace lockstep
