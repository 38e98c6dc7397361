#include "replicator/draft/mapping.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// Longer texts than that are found by their words, and not by `.raw`: the engine refuses terms over 32 KiB.
constexpr int kLongestRaw = 256;

constexpr const char* kDateTexts =
    "strict_date_optional_time||yyyy-MM-dd HH:mm:ss||yyyy-MM-dd HH:mm:ss.SSS||yyyy-MM-dd HH:mm";

Json properties_of(const std::vector<DraftField>& fields);

Json mapping_of(const DraftField& field) {
  if (!field.mapping.empty()) return Json::parse(field.mapping);
  switch (field.kind) {
    case ValueKind::kShort:
      return {{"type", "short"}};
    case ValueKind::kInteger:
      return {{"type", "integer"}};
    case ValueKind::kLong:
      return {{"type", "long"}};
    case ValueKind::kFloat:
      return {{"type", "float"}};
    case ValueKind::kDouble:
      return {{"type", "double"}};
    case ValueKind::kBoolean:
      return {{"type", "boolean"}};
    case ValueKind::kDate:
      return {{"type", "date"}};
    case ValueKind::kDateText:
      return {{"type", "date"}, {"format", kDateTexts}};
    case ValueKind::kKeyword:
      return {{"type", "keyword"}};
    case ValueKind::kText:
      return {{"type", "text"}, {"fields", {{"raw", {{"type", "keyword"}, {"ignore_above", kLongestRaw}}}}}};
    case ValueKind::kObject:
      if (field.fields.empty()) return {{"type", "object"}, {"dynamic", true}};
      return {{"properties", properties_of(field.fields)}};
    case ValueKind::kMixed:
      return {{"type", "object"}, {"enabled", false}};
    case ValueKind::kOpaque:
      return {{"type", "keyword"}, {"index", false}, {"doc_values", false}};
  }
  throw std::logic_error("a kind of value without a mapping");
}

Json properties_of(const std::vector<DraftField>& fields) {
  Json properties = Json::object();
  for (const DraftField& field : fields) properties[field.name] = mapping_of(field);
  return properties;
}

}  // namespace

std::string draft_mapping(const std::vector<DraftField>& fields, const std::string& settings) {
  // A text inside of an unknown object that looks like a date would make the next one that does not refused.
  Json mapping = Json::object();
  if (!settings.empty()) mapping["settings"] = Json::parse(settings);
  mapping["mappings"] = {
      {"dynamic", "strict"}, {"date_detection", false}, {"properties", properties_of(fields)}};
  return mapping.dump(2) + "\n";
}

}  // namespace lockstep
