#include "replicator/config/config_key_text.h"

#include <nlohmann/json.hpp>

#include "replicator/config/key_value.h"
#include "replicator/quantity.h"

namespace lockstep {
namespace {

std::string toml_quoted(std::string_view text) {
  return nlohmann::json(text).dump();
}

std::string list_text(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + toml_quoted(text);
  return list.empty() ? "" : "[" + list + "]";
}

std::string type_text(const KeySpec& spec) {
  if (!spec.choices.empty()) {
    std::string choices;
    for (const std::string_view choice : spec.choices) {
      choices += (choices.empty() ? "`" : ", `") + std::string(choice) + "`";
    }
    return "one of " + choices;
  }
  switch (spec.type) {
    case ValueType::kTexts:
      return "list of texts";
    case ValueType::kInteger:
      return "integer, " + range_text(spec);
    case ValueType::kShare:
      return "share";
    case ValueType::kSize:
      return "size, " + range_text(spec);
    case ValueType::kDuration:
      return "duration, " + range_text(spec);
    case ValueType::kBoolean:
      return "boolean";
    case ValueType::kFile:
      return "file";
    case ValueType::kSecret:
      return "secret";
    case ValueType::kText:
    case ValueType::kChoice:
      break;
  }
  return "text";
}

template <class Section>
void append_keys(const std::string& section, std::vector<ConfigKey>& all) {
  const Section defaults;
  for (const Key<Section>& key : keys_of<Section>()) {
    const KeySpec& spec = key.spec;
    all.push_back({section, std::string(spec.name), type_text(spec), toml_text(spec, key.get(defaults)),
                   std::string(spec.description), std::string(spec.example), spec.presence});
  }
}

}  // namespace

std::string toml_text(const KeySpec& spec, const KeyValue& value) {
  switch (spec.type) {
    case ValueType::kBoolean:
      return std::get<bool>(value) ? "true" : "false";
    case ValueType::kInteger:
      return std::to_string(std::get<std::int64_t>(value));
    case ValueType::kShare:
      return nlohmann::json(std::get<double>(value)).dump();
    case ValueType::kSize:
      return toml_quoted(size_text(std::get<std::int64_t>(value)));
    case ValueType::kDuration: {
      const auto duration = std::get<std::chrono::milliseconds>(value);
      return duration.count() == 0 && spec.least > 0 ? "" : toml_quoted(duration_text(duration));
    }
    case ValueType::kChoice:
      return toml_quoted(spec.choices.at(static_cast<std::size_t>(std::get<std::int64_t>(value))));
    case ValueType::kTexts:
      return list_text(std::get<std::vector<std::string>>(value));
    case ValueType::kFile: {
      const auto& path = std::get<std::filesystem::path>(value);
      return path.empty() ? "" : toml_quoted(path.string());
    }
    case ValueType::kSecret:
      return std::get<Secret>(value).empty() ? "" : toml_quoted("(secret)");
    case ValueType::kText:
      break;
  }
  const auto& text = std::get<std::string>(value);
  return text.empty() ? "" : toml_quoted(text);
}

std::vector<ConfigKey> config_keys() {
  std::vector<ConfigKey> all;
  append_keys<Config>("", all);
  for_each_section(
      [&]<class Section>(const char* name, Section Config::*) { append_keys<Section>(name, all); });
  append_keys<IndexConfig>("index", all);
  append_keys<TrackConfig>("index.track", all);
  return all;
}

}  // namespace lockstep
