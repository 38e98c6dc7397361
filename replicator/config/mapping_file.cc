#include "replicator/config/mapping_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

// "3:14": line and column of a byte, counted from 1; columns in bytes.
std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return std::to_string(line) + ":" + std::to_string(before.size() - line_start + 1);
}

// nlohmann's description without the number and the line in front.
std::string syntax_error(const nlohmann::json::parse_error& error) {
  const std::string_view text = error.what();
  const std::size_t begin = text.find("syntax error");
  return std::string(begin == std::string_view::npos ? text : text.substr(begin));
}

}  // namespace

std::optional<TextFault> mapping_fault(std::string_view name, std::string_view content) {
  const std::string file(name);
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(content);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t byte = error.byte > 0 ? error.byte - 1 : 0;
    return TextFault{file + ":" + line_and_column(content, byte) + ": " + syntax_error(error),
                     "correct the JSON there"};
  }
  if (!json.is_object()) {
    return TextFault{file + " is not a JSON object", R"(write {"settings": {…}, "mappings": {…}})"};
  }
  for (const auto& [key, value] : json.items()) {
    if (key != "settings" && key != "mappings") {
      const bool known_field = key == "properties" || key == "dynamic";
      return TextFault{
          file + " has the unknown key \"" + key + "\"",
          known_field ? "put it into \"mappings\"" : R"(there are only "settings" and "mappings")"};
    }
    if (!value.is_object()) return TextFault{file + ": \"" + key + "\" is not an object", "write {…}"};
  }
  if (json.contains(nlohmann::json::json_pointer("/mappings/_meta/lockstep"))) {
    return TextFault{file + ": \"mappings._meta.lockstep\" is lockstep's own", "leave it out"};
  }
  return std::nullopt;
}

}  // namespace lockstep
