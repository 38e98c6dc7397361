#include "replicator/source/sqlite/catalog/value_kind.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

namespace lockstep {
namespace {

using Type = SqliteColumn::Type;

std::string lower(std::string_view text) {
  std::string folded(text);
  std::transform(folded.begin(), folded.end(), folded.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return folded;
}

// As SQLite's date functions write it, or ISO 8601: the form that kDateText takes.
bool is_date(std::string_view text) {
  static const std::regex form(
      R"(\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d(\.\d{3})?)?|T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?)");
  return std::regex_match(text.begin(), text.end(), form);
}

}  // namespace

bool is_json_type(std::string_view type) {
  return lower(type) == "json";
}

ValueKind declared_kind(std::string_view type) {
  const std::string declared = lower(type);
  const auto has = [&](std::string_view word) { return declared.find(word) != std::string::npos; };
  if (is_json_type(type)) return ValueKind::kObject;
  if (has("int") || has("bool")) return ValueKind::kLong;
  if (has("char") || has("clob") || has("text")) return ValueKind::kText;
  if (has("blob")) return ValueKind::kOpaque;
  if (has("real") || has("floa") || has("doub") || has("num") || has("dec")) return ValueKind::kDouble;
  if (has("date") || has("timestamp")) return ValueKind::kDateText;
  if (has("time") || has("uuid") || has("guid")) return ValueKind::kKeyword;
  return ValueKind::kText;
}

void SqliteValuesSeen::add(const SqliteColumn& value) {
  const Type type = value.type();
  if (type == Type::kNull) return;
  types_.insert(type);
  if (type != Type::kText) return;
  ++texts_;
  const std::string_view text = value.text();
  if (is_date(text)) ++dates_;
  const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object() && !parsed.is_array()) return;
  ++json_;
  add_shape(parsed);
}

void SqliteValuesSeen::add_shape(const nlohmann::json& value) {
  if (value.is_array()) {
    for (const nlohmann::json& element : value) add_shape(element);
  } else if (value.is_object()) {
    shapes_.insert(ValueKind::kObject);
  } else if (value.is_string()) {
    shapes_.insert(ValueKind::kText);
  } else if (value.is_number()) {
    shapes_.insert(ValueKind::kDouble);
  } else if (value.is_boolean()) {
    shapes_.insert(ValueKind::kBoolean);
  }
}

ValueKind SqliteValuesSeen::kind(ValueKind declared) const {
  if (are_json()) return shapes_.size() == 1 ? *shapes_.begin() : ValueKind::kMixed;
  if (types_.contains(Type::kBlob)) return ValueKind::kOpaque;
  if (types_.contains(Type::kText)) {
    if (types_.size() > 1 || declared == ValueKind::kObject) return ValueKind::kText;
    if (declared == ValueKind::kDateText)
      return dates_ == texts_ ? ValueKind::kDateText : ValueKind::kKeyword;
    return declared == ValueKind::kKeyword ? declared : ValueKind::kText;
  }
  if (types_.contains(Type::kReal) || declared == ValueKind::kDouble) return ValueKind::kDouble;
  return ValueKind::kLong;
}

}  // namespace lockstep
