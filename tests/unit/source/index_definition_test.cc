#include "replicator/source/index_definition.h"

#include <gmock/gmock.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Severity = Finding::Severity;

IndexConfig index_of(const std::string& alias, const std::string& view) {
  IndexConfig index;
  index.alias = alias;
  index.view = view;
  index.json_columns = {"parts"};
  index.line = 7;
  TrackConfig track;
  track.table = "blog.posts";
  track.row = "'p' || id";
  track.columns = {"id", "title"};
  track.line = 9;
  TrackConfig ignored;
  ignored.table = "blog.log";
  ignored.ignore = true;
  index.tracks = {track, ignored};
  return index;
}

const std::string kOld = definition_text(index_of("posts", "search.posts"));
const std::string kNew = definition_text(index_of("posts", "search.posts_2"));
const std::string kThird = definition_text(index_of("posts", "search.posts_3"));

Config config_with(const std::string& view) {
  Config config;
  config.indices = {index_of("posts", view)};
  return config;
}

/// "posts: search.posts"
std::vector<std::string> views_of(const std::vector<IndexConfig>& indices) {
  std::vector<std::string> views;
  for (const IndexConfig& index : indices) views.push_back(index.alias + ": " + index.view);
  return views;
}

TEST(IndexDefinition, ComesBackAsItWasStored) {
  const std::vector<IndexConfig> stored = stored_indices({}, {{"posts", {}, kOld}});
  ASSERT_THAT(stored, SizeIs(1));
  EXPECT_EQ(stored[0].alias, "posts");
  EXPECT_EQ(definition_text(stored[0]), kOld);
  EXPECT_TRUE(stored[0].tracks.at(1).ignore);
}

TEST(IndexDefinition, OfNoLockstepIsAnErrorThatNamesTheIndex) {
  for (const char* const text : {"nonsense", "{}", R"({"view": 1, "json": [], "tracks": []})",
                                 R"({"view": "v", "json": [], "tracks": [{"table": "t"}]})"}) {
    try {
      stored_indices({}, {{"posts", {}, text}});
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("index posts"));
    }
  }
  EXPECT_THROW(stored_indices({}, {{"posts", {}, ""}}), Error) << "an older lockstep has stored none";
}

TEST(WantedIndices, AreThoseOfTheConfigurationWithoutAReindex) {
  EXPECT_THAT(views_of(wanted_indices(config_with("v"), {})), ElementsAre("posts: v"));
  EXPECT_THAT(views_of(wanted_indices(config_with("v"), {{"posts", {}, kOld}, {"gone", {}, kOld}})),
              ElementsAre("posts: v"));
}

TEST(WantedIndices, BothGenerationsChangeWhereBothHadOneDefinition) {
  for (const std::string& text : {kOld, std::string()}) {
    EXPECT_THAT(views_of(wanted_indices(config_with("search.posts_2"),
                                        {{"posts", {}, text}, {"posts-000002", "posts", text}})),
                ElementsAre("posts: search.posts_2", "posts-000002: search.posts_2"));
  }
}

TEST(WantedIndices, TheGenerationThatTheConfigurationDoesNotDescribeKeepsItsDefinition) {
  const std::vector<StoredIndex> before = {{"posts", {}, kOld}, {"posts-000002", "posts", kNew}};
  EXPECT_THAT(views_of(wanted_indices(config_with("search.posts_2"), before)),
              ElementsAre("posts: search.posts", "posts-000002: search.posts_2"))
      << "the alias has not moved yet";
  EXPECT_THAT(views_of(wanted_indices(config_with("search.posts"), before)),
              ElementsAre("posts: search.posts", "posts-000002: search.posts_2"))
      << "or back";
  EXPECT_THAT(views_of(wanted_indices(config_with("search.posts_3"), before)),
              ElementsAre("posts: search.posts_3", "posts-000002: search.posts_2"))
      << "neither";
  EXPECT_THAT(views_of(wanted_indices(config_with("search.posts_2"),
                                      {{"posts", {}, ""}, {"posts-000002", "posts", kNew}})),
              ElementsAre("posts: search.posts_2", "posts-000002: search.posts_2"))
      << "an older lockstep has stored no definition";
}

/// Whether each index keeps its field "title" alone; "" for all fields of its view.
std::vector<std::string> kept_fields(const std::vector<IndexConfig>& indices) {
  std::vector<std::string> kept;
  for (const IndexConfig& index : indices) {
    std::vector<std::string> fields = {"title", "length"};
    keep_fields(index, fields);
    kept.push_back(fields.size() == 2 ? "" : fields.at(0));
  }
  return kept;
}

TEST(WantedIndices, TheGenerationBesideKeepsItsFieldsOnceTheAliasHasMoved) {
  const StoredIndex live{"posts", {}, kOld, false, true, {"title"}};
  StoredIndex beside{"posts-000002", "posts", kOld, false, true, {"title"}};
  EXPECT_THAT(kept_fields(wanted_indices(config_with("search.posts"), {live, beside})), ElementsAre("", ""));
  beside.was_swapped = true;
  EXPECT_THAT(kept_fields(wanted_indices(config_with("search.posts"), {live, beside})),
              ElementsAre("", "title"));
  beside.configured = kNew;
  EXPECT_THAT(kept_fields(wanted_indices(config_with("search.posts"), {live, beside})),
              ElementsAre("", "title"));
  EXPECT_THAT(kept_fields(wanted_indices(config_with("search.posts_2"), {live, beside})),
              ElementsAre("title", "title"));
}

TEST(StoredIndices, KeepTheirFieldsExceptOneThatAReindexIsAboutToBeginWith) {
  const StoredIndex live{"posts", {}, kOld, false, true, {"title"}};
  const StoredIndex next{"posts (next)", "posts", kOld, false, false, {"title"}};
  EXPECT_THAT(kept_fields(stored_indices(config_with("search.posts"), {live, next})),
              ElementsAre("title", ""));
}

TEST(RedefinedAliases, AreThoseWhoseStoredDefinitionIsAnother) {
  EXPECT_THAT(redefined(config_with("search.posts"), {{"posts", {}, kOld}}), IsEmpty());
  EXPECT_THAT(redefined(config_with("search.posts"), {{"posts", {}, kThird}}), ElementsAre("posts"));
  EXPECT_THAT(redefined(config_with("search.posts"), {{"posts", {}, ""}, {"other", {}, kOld}}), IsEmpty());
}

TEST(FindingsOfAKeptDefinition, SayWhoseTheyAreAndItsWarningsAreLeftOut) {
  std::vector<Finding> findings = {{Severity::kError, "a:1", "before", ""},
                                   {Severity::kWarning, "a:1", "a warning", ""},
                                   {Severity::kError, "a:1", "a fault", ""}};
  std::vector<Finding> configured = findings;
  attribute_findings(config_with("search.posts"), index_of("posts", "search.posts"), 1, configured);
  EXPECT_THAT(configured, SizeIs(3));
  attribute_findings(config_with("search.posts"), index_of("posts-000001", "search.posts_2"), 1, findings);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].message, "before");
  EXPECT_EQ(findings[1].message, "index posts-000001 as it was applied: a fault");
  EXPECT_THAT(findings[1].remedy, HasSubstr("lockstep apply"));
}

TEST(DifferencesOfShapes, NeedANewIndexWhereTheViewIsAnother) {
  using Way = DefinitionDifference::Way;
  const DocumentShape is{"v", "integer", false, {"title", "body"}};
  EXPECT_THAT(compare_shapes(is, is), IsEmpty());
  const auto in_place = compare_shapes(is, {"v", "integer", false, {"title", "body", "length"}});
  ASSERT_THAT(in_place, SizeIs(1));
  EXPECT_EQ(in_place[0].place, "column length");
  EXPECT_EQ(in_place[0].is, "");
  EXPECT_EQ(in_place[0].way, Way::kInPlace);
  const auto another = compare_shapes(is, {"v2", "text", true, {"body"}});
  std::vector<std::string> places;
  for (const DefinitionDifference& difference : another) {
    places.push_back(difference.place);
    EXPECT_EQ(difference.way, Way::kNewIndex);
  }
  EXPECT_THAT(places, ElementsAre("view", "column _id", "column _routing", "column title"));
  EXPECT_EQ(another[3].wanted, "");
  EXPECT_EQ(shape_text(compare_shapes(is, {"v", "text", false, {"body", "length"}})),
            "column _id is integer, in the view text, column title is gone from the view, "
            "column length is not in the documents");
}

}  // namespace
}  // namespace lockstep
