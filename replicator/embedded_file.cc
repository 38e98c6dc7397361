#include "replicator/embedded_file.h"

#include <stdexcept>
#include <string>

namespace lockstep {

std::string_view sql_named(std::span<const EmbeddedFile> files, std::string_view name) {
  constexpr std::string_view kEnding = ".sql";
  for (const EmbeddedFile& file : files) {
    if (file.name.size() == name.size() + kEnding.size() && file.name.starts_with(name)) return file.content;
  }
  throw std::logic_error("no statement " + std::string(name));
}

}  // namespace lockstep
