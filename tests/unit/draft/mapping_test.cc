#include "replicator/draft/mapping.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

using nlohmann::json;

json mappings(const std::vector<DraftField>& fields) {
  return json::parse(draft_mapping(fields)).at("mappings");
}

TEST(MappingTest, RefusesFieldsThatItDoesNotKnow) {
  const json mapping = mappings({});
  EXPECT_EQ(mapping.at("dynamic"), "strict");
  EXPECT_EQ(mapping.at("date_detection"), false)
      << "one text that looks like a date would refuse the next that does not";
  EXPECT_EQ(mapping.at("properties"), json::object());
}

TEST(MappingTest, EveryKindOfValueHasItsType) {
  const std::vector<std::pair<ValueKind, json>> kinds = {
      {ValueKind::kShort, {{"type", "short"}}},
      {ValueKind::kInteger, {{"type", "integer"}}},
      {ValueKind::kLong, {{"type", "long"}}},
      {ValueKind::kFloat, {{"type", "float"}}},
      {ValueKind::kDouble, {{"type", "double"}}},
      {ValueKind::kBoolean, {{"type", "boolean"}}},
      {ValueKind::kDate, {{"type", "date"}}},
      {ValueKind::kDateText,
       {{"type", "date"},
        {"format",
         "strict_date_optional_time||yyyy-MM-dd HH:mm:ss||yyyy-MM-dd HH:mm:ss.SSS||yyyy-MM-dd HH:mm"}}},
      {ValueKind::kKeyword, {{"type", "keyword"}}},
      {ValueKind::kText,
       {{"type", "text"}, {"fields", {{"raw", {{"type", "keyword"}, {"ignore_above", 256}}}}}}},
      {ValueKind::kObject, {{"type", "object"}, {"dynamic", true}}},
      {ValueKind::kMixed, {{"type", "object"}, {"enabled", false}}},
      {ValueKind::kOpaque, {{"type", "keyword"}, {"index", false}, {"doc_values", false}}}};
  for (const auto& [kind, expected] : kinds)
    EXPECT_EQ(mappings({{"field", kind, {}}}).at("properties").at("field"), expected);
}

TEST(MappingTest, AnObjectOfKnownFieldsIsAsStrictAsTheDocument) {
  const DraftField user{"user", ValueKind::kObject, {{"id", ValueKind::kLong, {}}}};
  EXPECT_EQ(mappings({user}).at("properties").at("user"),
            (json{{"properties", {{"id", {{"type", "long"}}}}}}));
}

}  // namespace
}  // namespace lockstep
