#include "replicator/embedded_file.h"

#include <stdexcept>
#include <string>

namespace lockstep {

Statements statements_of(std::span<const EmbeddedFile> files) {
  constexpr std::string_view kName = "-- name: ";
  Statements statements;
  for (const EmbeddedFile& file : files) {
    if (!file.content.starts_with(kName))
      throw std::logic_error(std::string(file.name) + " begins without a name");
    for (std::string_view rest = file.content; !rest.empty();) {
      const std::size_t text = rest.find('\n') + 1;
      const std::size_t next = rest.find("\n\n" + std::string(kName));
      const std::string_view name = rest.substr(kName.size(), text - 1 - kName.size());
      const std::string_view statement =
          rest.substr(0, next == std::string_view::npos ? next : next + 1).substr(text);
      if (!statements.emplace(name, statement).second)
        throw std::logic_error("two statements " + std::string(name));
      rest.remove_prefix(next == std::string_view::npos ? rest.size() : next + 2);
    }
  }
  return statements;
}

std::string_view statement_named(const Statements& statements, std::string_view name) {
  const auto found = statements.find(name);
  if (found == statements.end()) throw std::logic_error("no statement " + std::string(name));
  return found->second;
}

}  // namespace lockstep
