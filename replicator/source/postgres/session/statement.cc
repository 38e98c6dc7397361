#include "replicator/source/postgres/session/statement.h"

#include <span>

#include "replicator/embedded_file.h"

namespace lockstep {

std::span<const EmbeddedFile> source_sql_files();

std::string_view postgres_sql(std::string_view name) {
  return sql_named(source_sql_files(), name);
}

}  // namespace lockstep
