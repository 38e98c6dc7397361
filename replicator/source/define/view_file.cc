#include "replicator/source/define/view_file.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "replicator/shell_word.h"

namespace lockstep {
namespace {

// `search.products` and `"search"."products"` are both products.
std::string own_name(const std::string& view) {
  std::string name = view.substr(view.rfind('.') + 1);
  std::erase(name, '"');
  return name;
}

}  // namespace

std::string remedy_of_view_file(const Config& config, const IndexConfig& index, const SqlDialect& dialect) {
  if (config.file.empty()) return "";
  for (const std::string& name : {own_name(index.view), index.alias}) {
    if (name.empty() || name.find('/') != std::string::npos) continue;
    const std::filesystem::path file = config.file.parent_path() / (name + ".sql");
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) continue;
    std::string command;
    for (const std::string& word : dialect.client(config.source.url, file.string()))
      command += " " + shell_word(word);
    return "create it first:" + command;
  }
  return "";
}

}  // namespace lockstep
