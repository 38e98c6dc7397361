#include "replicator/elasticsearch/admin/index_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Way = MappingDifference::Way;
using Reach = MappingDifference::Reach;

std::string fault(const std::string& text) {
  try {
    parse_mapping("m.json", text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<std::string> texts(const std::vector<MappingDifference>& differences, Way way) {
  std::vector<std::string> found;
  for (const MappingDifference& difference : differences) {
    if (difference.way == way) found.push_back(difference.text());
  }
  return found;
}

TEST(ParseMapping, ReadsSettingsMappingsAndTheUsersMeta) {
  const IndexMapping mapping = parse_mapping(
      "m.json",
      R"({"settings":{"number_of_shards":2},"mappings":{"_meta":{"team":"x"},"properties":{"a":{}}}})");
  EXPECT_EQ(mapping.settings, json({{"number_of_shards", 2}}));
  EXPECT_EQ(mapping.mappings, json::parse(R"({"properties":{"a":{}}})"));
  EXPECT_EQ(mapping.meta, json({{"team", "x"}}));
  EXPECT_EQ(parse_mapping("m.json", "{}").mappings, json::object());
}

TEST(ParseMapping, SaysWhereAndWhatIsWrong) {
  EXPECT_THAT(fault("{\n\"settings\": {,}\n}"), HasSubstr("m.json:2: this is not JSON"));
  EXPECT_THAT(fault("{\n\"settings\": {}"), HasSubstr("m.json:2: this is not JSON"));
  EXPECT_THAT(fault("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(fault("{\n\n\"properties\": {}}"),
              HasSubstr("m.json:3: \"properties\" belongs into \"mappings\""));
  EXPECT_THAT(fault(R"({"aliases": {}})"), HasSubstr("lockstep makes the alias"));
  EXPECT_THAT(fault(R"({"mapings": {}})"), HasSubstr("unknown key \"mapings\""));
  EXPECT_THAT(fault(R"({"mappings": []})"), HasSubstr("\"mappings\" is not a JSON object"));
  EXPECT_THAT(fault(R"({"mappings": {"_meta": {"lockstep": 1}}})"), HasSubstr("\"_meta\""));
}

TEST(MappingChecksum, ChangesWithTheMeaningAndNotWithTheSpaces) {
  const std::string one =
      checksum(parse_mapping("m", R"({"mappings":{"properties":{"a":{"type":"long"}, "b":{}}}})"));
  EXPECT_EQ(one.size(), 16u);
  EXPECT_EQ(one,
            checksum(parse_mapping("m", R"({ "mappings": {"properties":{"b":{},"a":{"type":"long"}}}})")));
  EXPECT_NE(one, checksum(parse_mapping("m", R"({"mappings":{"properties":{"a":{"type":"int"},"b":{}}}})")));
  EXPECT_NE(checksum(parse_mapping("m", R"({"settings":{"a":{}}})")),
            checksum(parse_mapping("m", R"({"mappings":{"a":{}}})")));
}

TEST(CompareMappings, FindsNothingInWhatTheEngineWroteOut) {
  const json wanted = json::parse(
      R"({"dynamic":false,"dynamic_templates":[{"t":{"match":"x","mapping":{"type":"long"}}}],
          "properties":{"a":{"type":"text","fields":{"raw":{"type":"keyword","ignore_above":256}}},
                        "o":{"type":"object","properties":{"n":{"type":"long"}}}}})");
  const json actual = json::parse(
      R"({"dynamic":"false","_meta":{"x":1},"dynamic_templates":[{"t":{"match":"x","mapping":{"type":"long"}}}],
          "properties":{"a":{"type":"text","norms":true,"fields":{"raw":{"type":"keyword","ignore_above":256}}},
                        "o":{"properties":{"n":{"type":"long"},"came_dynamically":{"type":"text"}}},
                        "another":{"type":"date"}}})");
  EXPECT_TRUE(compare_mappings(wanted, actual).empty());
}

TEST(CompareMappings, TellsAdditionsFromChangesAndFromWhatNeedsANewIndex) {
  const json actual = json::parse(
      R"({"properties":{"a":{"type":"text"},"k":{"type":"keyword","ignore_above":10},"o":{"properties":{"n":{"type":"long"}}}}})");
  const json wanted = json::parse(
      R"({"dynamic":"strict","properties":{"a":{"type":"text","fields":{"raw":{"type":"keyword"}}},
          "k":{"type":"keyword","ignore_above":20},
          "o":{"properties":{"n":{"type":"integer"},"m":{"type":"date"}}},"new":{"properties":{}}}})");
  const std::vector<MappingDifference> differences = compare_mappings(wanted, actual);
  EXPECT_THAT(texts(differences, Way::kInPlace),
              testing::UnorderedElementsAre("field a.raw: new, keyword", "field o.m: new, date",
                                            "field new: new, object"));
  EXPECT_THAT(texts(differences, Way::kUnknown),
              testing::UnorderedElementsAre("mapping: dynamic is not set, wanted strict",
                                            "field k: ignore_above is 10, wanted 20"));
  EXPECT_THAT(texts(differences, Way::kNewIndex),
              testing::UnorderedElementsAre("field o.n: type is long, wanted integer"));
}

TEST(CompareMappings, AnIndexThatIsDisabledAtItsRootNeedsANewOneThoughTheFileDoesNotNameThat) {
  EXPECT_THAT(texts(compare_mappings(json::object(), {{"enabled", false}}), Way::kNewIndex),
              testing::ElementsAre("mapping: enabled is false, wanted unset"));
  EXPECT_TRUE(compare_mappings(json::object(), {{"enabled", true}}).empty());
}

std::vector<std::string> places(const std::vector<MappingDifference>& differences, Reach reach) {
  std::vector<std::string> found;
  for (const MappingDifference& difference : differences) {
    if (difference.reach == reach) found.push_back(difference.place + "/" + difference.parameter);
  }
  return found;
}

TEST(CompareMappings, TellsWhatCountsForLaterWritesOnly) {
  const json actual = json::parse(
      R"({"dynamic":"false","properties":{"a":{"type":"text","copy_to":["b"]},"b":{"type":"text"},"d":{"type":"text"}}})");
  const json wanted = json::parse(
      R"({"dynamic":true,"date_detection":false,
          "properties":{"a":{"type":"text","analyzer":"default","search_analyzer":"simple"},"b":{"type":"text","fielddata":true},
                        "c":{"type":"alias","path":"a"},"d":{"type":"text","fields":{"raw":{"type":"keyword"}}}}})");
  const std::vector<MappingDifference> differences = compare_mappings(wanted, actual);
  EXPECT_THAT(places(differences, Reach::kLaterWrites),
              testing::UnorderedElementsAre("mapping/dynamic", "field d.raw/", "field a/copy_to"));
  EXPECT_THAT(places(differences, Reach::kEveryDocument),
              testing::UnorderedElementsAre("mapping/date_detection", "field a/search_analyzer",
                                            "field b/fielddata", "field c/"));
  EXPECT_THAT(places(compare_mappings({{"dynamic", "strict"}}, {{"dynamic", "false"}}), Reach::kLaterWrites),
              testing::IsEmpty());
}

TEST(CompareMappings, EachDifferenceCanBeTriedByItself) {
  const json actual = json::parse(
      R"({"properties":{"o":{"properties":{"k":{"type":"keyword","ignore_above":10,"copy_to":["x"],
          "fields":{"f":{"type":"text"}}},"other":{"type":"long"}}}}})");
  const json wanted = json::parse(
      R"({"properties":{"o":{"properties":{"k":{"type":"keyword","ignore_above":20,
          "fields":{"f":{"type":"text"},"g":{"type":"text"}}}}}}})");
  std::vector<json> changes;
  for (const MappingDifference& difference : compare_mappings(wanted, actual))
    changes.push_back(difference.change);
  EXPECT_THAT(
      changes,
      testing::UnorderedElementsAre(
          json::parse(R"({"properties":{"o":{"properties":{"k":{"type":"keyword","ignore_above":10,
                      "copy_to":["x"],"fields":{"g":{"type":"text"}}}}}}})"),
          json::parse(R"({"properties":{"o":{"properties":{"k":{"type":"keyword","ignore_above":20,
                      "copy_to":["x"]}}}}})"),
          json::parse(R"({"properties":{"o":{"properties":{"k":{"type":"keyword","ignore_above":10}}}}})")));
}

TEST(CompareMappings, AnObjectAndAFieldOfTheSameNameNeedANewIndex) {
  EXPECT_EQ(texts(compare_mappings(json::parse(R"({"properties":{"u":{"properties":{}}}})"),
                                   json::parse(R"({"properties":{"u":{"type":"text"}}})")),
                  Way::kNewIndex),
            std::vector<std::string>{"field u: type is text, wanted object"});
}

TEST(CompareSettings, ReadsEveryNotation) {
  const json actual = {{"index.number_of_replicas", "1"},
                       {"index.refresh_interval", "5s"},
                       {"index.analysis.filter.s.stopwords", {"a", "b"}},
                       {"index.uuid", "x"}};
  for (const char* wanted :
       {R"({"number_of_replicas":1,"analysis":{"filter":{"s":{"stopwords":["a","b"]}}}})",
        R"({"index":{"number_of_replicas":"1","refresh_interval":"5s"}})",
        R"({"index.number_of_replicas":1})", R"({"index":{"max_result_window":null}})"}) {
    EXPECT_TRUE(compare_settings(json::parse(wanted), actual).empty()) << wanted;
    EXPECT_TRUE(changed_settings(json::parse(wanted), actual).empty()) << wanted;
  }
}

TEST(CompareSettings, TellsWhatIsFixedFromWhatCanBeSet) {
  const json actual = {{"index.number_of_replicas", "1"}, {"index.number_of_shards", "1"}};
  const json wanted = {{"number_of_replicas", 2}, {"number_of_shards", 3}, {"refresh_interval", "9s"}};
  const std::vector<MappingDifference> differences = compare_settings(wanted, actual);
  EXPECT_THAT(texts(differences, Way::kNewIndex),
              testing::ElementsAre("setting index.number_of_shards is 1, wanted 3"));
  EXPECT_THAT(texts(differences, Way::kUnknown),
              testing::UnorderedElementsAre("setting index.number_of_replicas is 1, wanted 2",
                                            "setting index.refresh_interval is not set, wanted 9s"));
  EXPECT_THAT(
      texts(
          compare_settings(
              {{"analysis", {{"normalizer", {{"n", {{"type", "custom"}}}}}}}, {"codec", "default"}}, actual),
          Way::kClosedIndex),
      testing::UnorderedElementsAre("setting index.codec is not set, wanted default",
                                    "setting index.analysis.normalizer.n.type is not set, wanted custom"));
  EXPECT_THAT(places(compare_settings({{"default_pipeline", "p"}, {"refresh_interval", "1s"}}, actual),
                     Reach::kLaterWrites),
              testing::ElementsAre("setting index.default_pipeline/"));
  EXPECT_EQ(changed_settings(wanted, actual),
            json({{"index.number_of_replicas", "2"}, {"index.refresh_interval", "9s"}}));
}

}  // namespace
}  // namespace lockstep
