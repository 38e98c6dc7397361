#include "replicator/source/postgres/session/statement.h"

#include <algorithm>
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

std::string_view without_comment(std::string_view text) {
  while (text.starts_with("--")) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

std::string fill_placeholders(std::string_view statement,
                              const std::map<std::string_view, std::string_view>& values) {
  std::string text;
  while (true) {
    const std::size_t open = statement.find('{');
    text += statement.substr(0, open);
    if (open == std::string_view::npos) return text;
    const std::size_t close = statement.find('}', open);
    const auto value = values.find(statement.substr(open + 1, close - open - 1));
    if (value == values.end()) throw std::logic_error("unknown placeholder in a statement");
    text += value->second;
    statement.remove_prefix(close + 1);
  }
}

}  // namespace lockstep
