#include "replicator/source/postgres_sql.h"

#include <span>
#include <stdexcept>
#include <string>

#include "replicator/embedded_file.h"

namespace lockstep {

std::span<const EmbeddedFile> source_sql_files();

std::string_view postgres_sql(std::string_view name) {
  for (const EmbeddedFile& file : source_sql_files()) {
    if (file.name.size() == name.size() + 4 && file.name.starts_with(name)) return file.content;
  }
  throw std::logic_error("no statement " + std::string(name));
}

}  // namespace lockstep
