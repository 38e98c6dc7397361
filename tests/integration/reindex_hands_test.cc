// Somebody moves the alias, deletes an index or changes the configuration while an index has two generations:
// it is said, what is searched or complete stays, and there is a way back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string mapping_of_title(const std::string& type) {
  return R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "100ms"},
             "mappings": {"dynamic": false, "properties": {"title": {"type": ")" +
         type + R"("}}}})";
}

class ReindexByHand : public BlogTest {
 protected:
  ReindexByHand() { pipeline_.set_mapping("posts", mapping_of_title("text")); }

  /// A reindex is wanted; the other index is the second one.
  void need_reindex() {
    follow();
    pipeline_.must("wait");
    pipeline_.set_mapping("posts", mapping_of_title("keyword"));
  }

  std::string generation(int number) const { return posts_.alias() + "-00000" + std::to_string(number); }
  std::string stands_for() const {
    return posts_.server().expect("GET", "/_alias/" + posts_.alias()).begin().key();
  }
  void change_alias(const std::string& action, int generation_number) const {
    posts_.server().expect("POST", "/_aliases",
                           R"({"actions": [{")" + action + R"(": {"index": ")" +
                               generation(generation_number) + R"(", "alias": ")" + posts_.alias() +
                               R"("}}]})");
  }
  void delete_index(int number) const { posts_.server().expect("DELETE", "/" + generation(number)); }

  std::unique_ptr<Program> begin_reindex(const std::vector<std::string>& arguments = {}) const {
    std::vector<std::string> all{"reindex", "-c", pipeline_.configuration().string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return std::make_unique<Program>(lockstep_program(), all);
  }
  nlohmann::json reindex() const {
    const nlohmann::json reindexes = pipeline_.status().at("reindexes");
    return reindexes.empty() ? nlohmann::json{{"state", "none"}, {"reason", ""}} : reindexes.at(0);
  }
  testing::AssertionResult becomes_state(const std::string& state) const {
    if (wait_until([&] { return reindex().at("state") == state; }, kPatience))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << reindex();
  }
  /// `status` says it as the reason of the reindex, and among its warnings, which are in the metrics, too.
  testing::AssertionResult is_said(const std::string& words) const {
    const auto is_so = [&] {
      const nlohmann::json status = pipeline_.status();
      return status.at("reindexes").dump().find(words) != std::string::npos &&
             status.at("warnings").dump().find(words) != std::string::npos;
    };
    if (wait_until(is_so, kPatience)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << pipeline_.status();
  }
  static testing::AssertionResult says(const Program& program, const std::string& words) {
    if (wait_until([&] { return program.err().find(words) != std::string::npos; }, kPatience))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << "not \"" << words << "\" but " << program.err();
  }
  std::string wait_fails() const {
    const Completed wait = pipeline_.lockstep("wait", {"--timeout", "300ms"});
    EXPECT_EQ(wait.exit_code, 1) << wait.err;
    return wait.err;
  }
  void expect_searchable(int number) const {
    const auto found =
        posts_.server().expect("GET", "/" + generation(number) + "/_settings?flat_settings=true");
    const nlohmann::json settings = found.begin()->at("settings");
    EXPECT_EQ(settings.at("index.refresh_interval"), "100ms");
    EXPECT_NE(settings.value("index.hidden", "false"), "true");
  }
};

TEST_F(ReindexByHand, AnAliasThatIsMovedToAnIndexWhichIsBeingFilledIsSaidAndAbortGivesItBack) {
  need_reindex();
  const auto filling = begin_reindex({"--max-rate", "1"});
  ASSERT_TRUE(becomes_state("filling"));
  change_alias("add", 2);
  change_alias("remove", 1);
  EXPECT_TRUE(is_said("points to " + generation(2) + ", not to " + generation(1)));
  EXPECT_THAT(wait_fails(), HasSubstr("does not point to " + generation(1)));
  const auto abort = begin_reindex({"--abort"});
  EXPECT_TRUE(says(*abort, "` moves it back and ends the reindex"));
  EXPECT_EQ(reindex().at("state"), "filling") << "what is searched goes on being followed";
  pipeline_.must("reindex", {"--abort", "--force"});
  EXPECT_EQ(abort->wait(kPatience), 0) << abort->err();
  EXPECT_EQ(stands_for(), generation(1));
  EXPECT_THAT(posts_.concrete(), ElementsAre(generation(1)));
  expect_searchable(1);
  pipeline_.must("wait");
}

TEST_F(ReindexByHand, AnAliasThatIsDeletedWhileTheNewIndexIsFilledIsGivenToThatByForce) {
  need_reindex();
  const auto filling = begin_reindex({"--max-rate", "10"});
  ASSERT_TRUE(becomes_state("filling"));
  change_alias("remove", 1);
  EXPECT_TRUE(is_said("points to nothing, not to " + generation(1)));
  pipeline_.must("reindex", {posts_.alias(), "--force"});
  EXPECT_EQ(stands_for(), generation(2));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(ReindexByHand, TheOldIndexIsTakenBackAtOnceWhenTheNewOneWasDeleted) {
  need_reindex();
  pipeline_.must("reindex");
  delete_index(2);
  EXPECT_TRUE(is_said("` points it to " + generation(1)));
  wait_fails();
  const Completed apply = pipeline_.lockstep("apply", {"--yes"});
  EXPECT_EQ(apply.exit_code, 1);
  EXPECT_THAT(apply.err, HasSubstr("reindex --back"));
  execute("update blog.posts set title = 'meanwhile' where id = 1");
  const auto finish = begin_reindex({"--finish", "--yes"});
  EXPECT_TRUE(says(*finish, "which has every change"));
  EXPECT_THAT(posts_.concrete(), ElementsAre(generation(1))) << "the only complete one";
  pipeline_.must("reindex", {"--back"}, std::chrono::seconds(20));
  EXPECT_EQ(stands_for(), generation(1));
  expect_searchable(1);
  pipeline_.must("wait");
  EXPECT_TRUE(becomes_equal());
}

// Reported: --abort named --back and --finish, both of which named --abort; and `status` named two remedies.
TEST_F(ReindexByHand, AReindexThatFailedAfterItsWayBackIsEndedByAbort) {
  need_reindex();
  pipeline_.must("reindex");
  delete_index(2);
  EXPECT_TRUE(is_said("` points it to " + generation(1)));
  EXPECT_TRUE(wait_until(
      [&] {
        return pipeline_.status().dump().find("looking up the index of " + generation(2)) !=
               std::string::npos;
      },
      kPatience));
  const std::string status = pipeline_.status().dump();
  EXPECT_EQ(status.find(generation(2) + "-w"), std::string::npos) << status;
  EXPECT_EQ(status.find("lockstep apply"), std::string::npos) << status;
  pipeline_.must("reindex", {"--back"}, std::chrono::seconds(20));
  ASSERT_TRUE(becomes_state("failed"));
  EXPECT_THAT(pipeline_.lockstep("status").out,
              HasSubstr("`lockstep reindex --abort " + posts_.alias() + "`"));
  for (const std::string order : {"--back", "--finish"}) {
    const Completed refused = pipeline_.lockstep("reindex", {order, "--yes", posts_.alias()});
    EXPECT_EQ(refused.exit_code, 2) << order;
    EXPECT_THAT(refused.err, HasSubstr("--abort")) << order;
  }
  pipeline_.must("reindex", {"--abort"});
  EXPECT_EQ(reindex().at("state"), "none");
  EXPECT_EQ(stands_for(), generation(1));
  pipeline_.must("wait");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(ReindexByHand, AnAliasThatIsPutBackByHandIsTakenForAWayBack) {
  need_reindex();
  pipeline_.must("reindex", {"--keep", "1s"});
  delete_index(2);
  change_alias("add", 1);
  EXPECT_TRUE(is_said("points to " + generation(1)));
  pipeline_.must("reindex", {"--back"}, std::chrono::seconds(20));
  EXPECT_EQ(stands_for(), generation(1));
  expect_searchable(1);
  EXPECT_TRUE(becomes_equal());
}

TEST_F(ReindexByHand, AnIndexThatIsDeletedWhileItsSuccessorIsFilledIsReplacedByThat) {
  need_reindex();
  const auto filling = begin_reindex({"--max-rate", "10"});
  ASSERT_TRUE(becomes_state("filling"));
  delete_index(1);
  EXPECT_EQ(filling->wait(kPatience), 0) << filling->err();
  EXPECT_EQ(stands_for(), generation(2));
  expect_searchable(2);
  EXPECT_TRUE(becomes_equal());
}

TEST_F(ReindexByHand, AComparisonThatCannotGoOnSaysWhy) {
  need_reindex();
  const std::string body =
      R"({"error": {"type": "null_pointer_exception", "reason": "type must not be null"}})";
  proxy_.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
    if (!request.target().starts_with("/" + generation(2) + "-w")) return std::nullopt;
    const bool reads = request.target().find("_mget") != std::string::npos ||
                       request.target().find("_search") != std::string::npos;
    return reads ? std::optional(Disturbance{.status = 500, .body = body}) : std::nullopt;
  });
  const auto reindexing = begin_reindex();
  EXPECT_TRUE(is_said("null_pointer_exception"));
  EXPECT_EQ(reindex().at("state"), "comparing");
  proxy_.disturb({});
  EXPECT_EQ(reindexing->wait(kPatience), 0) << reindexing->err();
  EXPECT_TRUE(wait_until([&] { return pipeline_.status().at("warnings").empty(); }, kPatience));
}

// The one that waits for a person asked again and again, and another one never began.
TEST_F(ReindexByHand, OneThatCannotEndKeepsNoneOfTheOthersFromGoingOn) {
  ElasticsearchIndex& more =
      pipeline_.add_index("more", "search.posts", blog_tracks(), mapping_of_title("text"));
  need_reindex();
  pipeline_.must("reindex", {posts_.alias()});
  change_alias("add", 1);
  change_alias("remove", 2);
  const auto finish = begin_reindex({"--finish", "--yes", posts_.alias()});
  EXPECT_TRUE(says(*finish, "points to " + generation(1)));
  pipeline_.set_mapping("more", mapping_of_title("keyword"));
  pipeline_.must("reindex", {more.alias()}, std::chrono::seconds(60));
  EXPECT_THAT(more.server().expect("GET", "/_alias/" + more.alias()).begin().key(), HasSubstr("-000002"));
  pipeline_.must("reindex", {"--finish", "--yes", "--force", posts_.alias()});
  EXPECT_EQ(finish->wait(kPatience), 0) << finish->err();
  EXPECT_TRUE(becomes_equal());
}

}  // namespace
}  // namespace lockstep::support
