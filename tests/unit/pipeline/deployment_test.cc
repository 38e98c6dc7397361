#include "replicator/pipeline/deployment.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "replicator/error.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kIdentity = "5e0c1a2b-0000-0000-0000-000000000001";

// What both sides are asked to change, in order.
using ClusterChanges = std::vector<std::string>;

class FakeDefinition final : public SourceDefinition {
 public:
  explicit FakeDefinition(ClusterChanges& changes) : changes_(changes) {}

  std::string server() override { return "PostgreSQL 15.4"; }
  std::string user() override { return "postgres"; }
  std::vector<Finding> check() override { return {}; }
  std::map<std::string, std::vector<std::string>> document_fields() override { return fields; }
  std::string identity() override { return applied.empty() ? "" : kIdentity; }
  std::vector<std::string> applied_aliases() override { return applied; }
  std::map<std::string, std::vector<DefinitionDifference>> definition_differences() override {
    return differences;
  }
  std::vector<std::string> redefined_aliases() override { return {}; }
  std::vector<std::string> altered_aliases() override { return {}; }
  bool start_reindex(const WantedReindex&, const Progress&) override { return false; }
  void drop_unneeded(const Progress&) override {}
  void refill(const std::vector<std::string>& aliases, const std::string& reason) override {
    if (refuses_jobs) throw Error({"adding jobs", "the source is away"});
    for (const std::string& alias : aliases) changes_.push_back("refill " + alias + ": " + reason);
  }
  void note_filled(std::set<std::string> aliases) override { filled = std::move(aliases); }
  std::vector<PlanStep> plan() override { return steps; }
  void apply(const Progress& progress) override {
    if (fails) throw Error({"applying", "the source is away"});
    changes_.push_back("apply");
    for (const PlanStep& step : steps) progress.step(step);
    applied = {"posts"};
  }
  std::vector<PlanStep> removal_plan() override { return steps; }
  void remove(const Progress&) override { changes_.push_back("remove"); }
  std::vector<std::string> privileges_for(const std::string&) override { return {}; }

  bool fails = false;
  bool refuses_jobs = false;
  std::vector<std::string> applied;
  std::set<std::string> filled;
  std::vector<PlanStep> steps;
  std::map<std::string, std::vector<std::string>> fields;                // by alias
  std::map<std::string, std::vector<DefinitionDifference>> differences;  // by alias

 private:
  ClusterChanges& changes_;
};

// Indices by name, enough of Elasticsearch for plan_index and apply_index_plan.
class FakeIndices final : public HttpTransport {
 public:
  FakeIndices(std::map<std::string, json>& indices, ClusterChanges& changes)
      : indices_(indices), changes_(changes) {}

  // A leader has read the mark before each of so many changes of a mapping, and what it writes is still in
  // the cluster's hand at the next request, unless that waits for it.
  int late_writes = 0;

  HttpResponse perform(const HttpRequest& request) override {
    const HttpResponse done{200, R"({"acknowledged":true})"};
    const bool waits = request.path.starts_with("/_cluster/health");
    if (waits || ++requests_since_ > 1) {
      for (auto& [index, meta] : std::exchange(in_hand_, {})) indices_[index]["mappings"]["_meta"] = meta;
    }
    if (waits) return {200, "{}"};
    const std::string name = request.path.substr(1, request.path.find_first_of("?/", 1) - 1);
    if (request.path.starts_with("/_index_template/_simulate"))
      return {200,
              json{{"template", {{"mappings", json::parse(request.body)["template"]["mappings"]}}}}.dump()};
    if (request.method == "PUT") {
      const json body = json::parse(request.body);
      if (request.path.ends_with("/_mapping")) {
        const json mark = body.at("_meta").at("lockstep");
        changes_.push_back(
            "map " + name +
            (mark.contains("unwritten") ? ", unwritten " + mark.at("unwritten").get<std::string>() : "") +
            (mark.contains("uncompared") ? ", uncompared " + mark.at("uncompared").get<std::string>() : ""));
        json& mappings = indices_[name]["mappings"];
        if (late_writes > 0 && late_writes-- > 0) in_hand_[name] = mappings["_meta"];
        requests_since_ = 0;
        mappings.update(body);
        return done;
      }
      changes_.push_back("create " + name);
      indices_[name] = body;
      return done;
    }
    if (request.method == "DELETE") {
      changes_.push_back("delete " + name);
      indices_.erase(name);
      return done;
    }
    return look_up(name);
  }

 private:
  HttpResponse look_up(const std::string& name) const {
    const bool pattern = name.ends_with("-*");
    json found = json::object();
    for (const auto& [index, state] : indices_) {
      const bool matches = pattern ? index.starts_with(name.substr(0, name.size() - 1))
                                   : state["aliases"].contains(name) || index == name;
      if (matches) found[index] = state;
    }
    if (!pattern && found.empty()) return {404, R"({"error": {"type": "index_not_found_exception"}})"};
    return {200, found.dump()};
  }

  std::map<std::string, json>& indices_;
  ClusterChanges& changes_;
  std::map<std::string, json> in_hand_;  // _meta by index
  int requests_since_ = 0;
};

class DeploymentTest : public testing::Test {
 protected:
  DeploymentTest() {
    config_.pipeline = "shop";
    IndexConfig index;
    index.alias = "posts";
    index.view = "search.posts";
    index.mapping_json = R"({"mappings": {}})";
    config_.indices.push_back(index);
  }

  // An index as it would be after an apply of ours, or somebody else's.
  void make_index(const std::string& name, const std::string& identity) {
    source_.applied = {"posts"};
    deployment_.apply(progress_);
    json index = indices_.at("posts-000001");
    indices_.clear();
    index["mappings"]["_meta"]["lockstep"]["identity"] = identity;
    indices_[name] = index;
    changes_.clear();
    told_.clear();
  }

  Config config_;
  ClusterChanges changes_;
  std::vector<std::string> told_;
  std::map<std::string, json> indices_;
  FakeDefinition source_{changes_};
  FakeIndices* const server_ = new FakeIndices(indices_, changes_);  // the client owns it
  ElasticsearchClient elasticsearch_{std::unique_ptr<HttpTransport>(server_)};
  Deployment deployment_{config_, source_, elasticsearch_};
  SourceDefinition::Progress progress_{.step = [this](const PlanStep& step) { told_.push_back(step.object); },
                                       .waiting = {}};
};

TEST_F(DeploymentTest, ViewColumnThatAStrictMappingDoesNotHaveKeepsApplyFromDoingAnything) {
  config_.indices[0].mapping_json =
      R"({"mappings": {"dynamic": "strict", "properties": {"title": {"type": "text"}}}})";
  source_.fields["posts"] = {"title", "body"};
  ASSERT_THAT(deployment_.plan().obstacles, testing::SizeIs(1));
  EXPECT_THAT(to_line(deployment_.plan().obstacles[0]), testing::HasSubstr("would be refused: body"));
  EXPECT_THROW(deployment_.apply(progress_), Error);
  EXPECT_THAT(changes_, testing::IsEmpty());
  source_.fields["posts"] = {"title"};
  EXPECT_THAT(deployment_.plan().obstacles, testing::IsEmpty());
}

TEST_F(DeploymentTest, ANewPipelinesIndexCarriesTheIdentityThatTheSourceGave) {
  deployment_.apply(progress_);
  EXPECT_THAT(changes_, ElementsAre("apply", "create posts-000001"));
  EXPECT_EQ(indices_["posts-000001"]["mappings"]["_meta"]["lockstep"]["identity"], kIdentity);
  EXPECT_TRUE(indices_["posts-000001"]["aliases"].contains("posts"));
}

TEST_F(DeploymentTest, G2ARunningPipelinesIndexStandsBeforeTheSourceAsksForIt) {
  source_.applied = {"other"};
  deployment_.apply(progress_);
  EXPECT_THAT(changes_, ElementsAre("create posts-000001", "apply"));
}

TEST_F(DeploymentTest, AnIndexThatIsThereAlreadyIsNotTakenForANewOne) {
  source_.applied = {"other"};
  deployment_.apply(progress_);
  EXPECT_TRUE(source_.filled.empty());
  source_.applied = {"other"};
  deployment_.plan();
  EXPECT_EQ(source_.filled, std::set<std::string>{"posts"});
}

TEST_F(DeploymentTest, G3AnIndexThatIsGoneIsFilledAnewAndTheJobComesFirst) {
  source_.applied = {"posts"};
  EXPECT_THAT(deployment_.plan().steps, testing::SizeIs(2));
  deployment_.apply(progress_);
  EXPECT_THAT(changes_, ElementsAre("refill posts: the index was recreated", "create posts-000001", "apply"));
  EXPECT_THAT(told_, ElementsAre("backfill of posts", "index posts-000001 with alias posts"));
}

TEST_F(DeploymentTest, G5AnAdoptedIndexSaysUntilTheSourceHasItsJobsThatNobodyHasComparedIt) {
  indices_["old"] = {
      {"aliases", {{"posts", json::object()}}}, {"mappings", json::object()}, {"settings", json::object()}};
  EXPECT_THAT(deployment_.plan().obstacles, testing::SizeIs(1)) << "only somebody who asks for it adopts it";
  source_.applied = {"other"};
  Deployment adopting{config_, source_, elasticsearch_, {"posts"}};
  source_.fails = true;
  EXPECT_THROW(adopting.apply(progress_), Error);
  EXPECT_THAT(changes_, ElementsAre("map old, uncompared index old"));
  EXPECT_THAT(to_line(deployment_.plan().obstacles.at(0)),
              testing::HasSubstr("finish that with `lockstep adopt posts`"));
  changes_.clear();
  source_.fails = false;
  adopting.apply(progress_);
  EXPECT_THAT(changes_, ElementsAre("map old, uncompared index old", "apply", "map old"));
  EXPECT_THAT(deployment_.plan().obstacles, testing::IsEmpty());
}

TEST_F(DeploymentTest, G4WhatCountsForLaterWritesIsWrittenAgainBehindTheMappingAndTheMarkSaysSoUntilThen) {
  deployment_.apply(progress_);
  changes_.clear();
  config_.indices[0].mapping_json = R"({"mappings": {"properties": {"title": {"type": "text"}}}})";
  ASSERT_THAT(deployment_.plan().steps, testing::SizeIs(2));
  EXPECT_EQ(deployment_.plan().steps[1].object, "backfill of posts");
  deployment_.apply(progress_);
  EXPECT_THAT(changes_,
              ElementsAre("map posts-000001, unwritten field title",
                          "refill posts: the mapping has changed for documents written later: field title",
                          "map posts-000001", "apply"));
  EXPECT_TRUE(deployment_.plan().empty());
}

TEST_F(DeploymentTest, DocumentsToBeWrittenAgainAreNotForgottenWhenALeaderWritesTheOldMarkAtTheSameMoment) {
  deployment_.apply(progress_);
  config_.indices[0].mapping_json = R"({"mappings": {"properties": {"title": {"type": "text"}}}})";
  server_->late_writes = 2;
  source_.refuses_jobs = true;
  EXPECT_THROW(deployment_.apply(progress_), Error);
  deployment_.plan();  // the cluster has done what it had in hand
  EXPECT_EQ(deployment_.plan().indices.at(0).unwritten, "field title");

  source_.refuses_jobs = false;
  server_->late_writes = 3;  // two of them put back what was to be forgotten
  deployment_.apply(progress_);
  deployment_.plan();
  EXPECT_TRUE(deployment_.plan().empty());
}

TEST_F(DeploymentTest, AMarkThatIsWrittenOverForEverEndsApplyWithAnErrorThatMayBeTriedAgain) {
  deployment_.apply(progress_);
  config_.indices[0].mapping_json = R"({"mappings": {"properties": {"title": {"type": "text"}}}})";
  server_->late_writes = 100;
  try {
    deployment_.apply(progress_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable()) << error.what();
  }
}

TEST_F(DeploymentTest, ASecondPlanHasNothingToDo) {
  deployment_.apply(progress_);
  EXPECT_TRUE(deployment_.plan().empty());
}

TEST_F(DeploymentTest, AnotherViewNeedsANewIndexAndKeepsApplyFromDoingAnything) {
  deployment_.apply(progress_);
  changes_.clear();
  using Way = DefinitionDifference::Way;
  source_.differences["posts"] = {{"view", "search.posts", "search.posts_2", Way::kNewIndex},
                                  {"column body", "a column", "", Way::kNewIndex}};
  const DeploymentPlan plan = deployment_.plan();
  ASSERT_THAT(plan.obstacles, testing::SizeIs(1));
  EXPECT_THAT(
      to_line(plan.obstacles[0]),
      testing::HasSubstr("view is search.posts, wanted search.posts_2, column body is a column, wanted "
                         "unset; run `lockstep reindex posts`"));
  EXPECT_EQ(plan.indices.at(0).kind, IndexPlan::Kind::kReindex);
  EXPECT_THROW(deployment_.apply(progress_), Error);
  EXPECT_THAT(changes_, IsEmpty());
}

TEST_F(DeploymentTest, AColumnOfTheSameViewIsNoObstacle) {
  deployment_.apply(progress_);
  source_.differences["posts"] = {{"column length", "", "a column", DefinitionDifference::Way::kInPlace}};
  const DeploymentPlan plan = deployment_.plan();
  EXPECT_THAT(plan.obstacles, IsEmpty());
  ASSERT_THAT(plan.indices.at(0).differences, testing::SizeIs(1));
  EXPECT_EQ(plan.indices[0].differences[0].text(), "column length: new, a column");
  EXPECT_EQ(plan.indices[0].kind, IndexPlan::Kind::kNothing);
}

TEST_F(DeploymentTest, AnIndexThatIsGoneHasNoDocumentsOfAnotherView) {
  source_.applied = {"posts"};
  source_.differences["posts"] = {
      {"view", "search.posts", "search.posts_2", DefinitionDifference::Way::kNewIndex}};
  EXPECT_THAT(deployment_.plan().obstacles, IsEmpty());
}

TEST_F(DeploymentTest, G1ARefusedIndexKeepsEverythingAsItIs) {
  make_index("posts-000001", "somebody else");
  const DeploymentPlan plan = deployment_.plan();
  ASSERT_THAT(plan.obstacles, testing::SizeIs(1));
  EXPECT_EQ(plan.obstacles[0].place, "index posts");
  EXPECT_THROW(deployment_.apply(progress_), Error);
  EXPECT_THAT(changes_, IsEmpty());
}

TEST_F(DeploymentTest, G1ARefusedIndexKeepsANewPipelineAndItsOtherIndicesAway) {
  make_index("posts-000001", "somebody else");
  source_.applied.clear();
  IndexConfig other = config_.indices.front();
  other.alias = "authors";
  config_.indices.insert(config_.indices.begin(), other);
  EXPECT_THROW(deployment_.apply(progress_), Error);
  EXPECT_THAT(changes_, IsEmpty());
}

TEST_F(DeploymentTest, AMarkThatNobodyCanReadIsAnObstacleAndHidesNothingOfAnotherIndex) {
  make_index("posts-000001", kIdentity);
  indices_["posts-000001"]["mappings"]["_meta"]["lockstep"]["epoch"] = "many";
  IndexConfig other = config_.indices.front();
  other.alias = "authors";
  config_.indices.push_back(other);
  const DeploymentPlan plan = deployment_.plan();
  ASSERT_THAT(plan.obstacles, testing::SizeIs(1));
  EXPECT_EQ(plan.obstacles[0].place, "index posts");
  EXPECT_THAT(plan.obstacles[0].message, testing::HasSubstr("its epoch is \"many\""));
  ASSERT_THAT(plan.steps, testing::SizeIs(1));
  EXPECT_EQ(plan.steps[0].object, "index authors-000001 with alias authors");
}

TEST_F(DeploymentTest, AnIndexThatLeavesTheConfigurationDuringAReindexIsRefused) {
  make_index("posts-000001", kIdentity);
  source_.applied = {"posts", "authors", "authors-000002"};
  const DeploymentPlan plan = deployment_.plan();
  ASSERT_THAT(plan.obstacles, testing::SizeIs(1));
  EXPECT_EQ(plan.obstacles[0].place, "index authors");
  EXPECT_THAT(plan.obstacles[0].remedy, testing::HasSubstr("lockstep reindex --finish authors"));
  source_.applied = {"posts", "authors"};
  EXPECT_THAT(deployment_.plan().obstacles, IsEmpty()) << "it has one generation";
}

TEST_F(DeploymentTest, RemovingKeepsTheIndicesUnlessAsked) {
  make_index("posts-000001", kIdentity);
  deployment_.remove(Indices::kKept, progress_);
  EXPECT_THAT(changes_, ElementsAre("remove"));
}

TEST_F(DeploymentTest, RemovingTheIndicesTakesOurOwnGenerationsOnlyAndTheSourceLast) {
  make_index("posts-000002", kIdentity);
  indices_["posts-000001"] = indices_["posts-000002"];
  indices_["posts-000003"] = indices_["posts-000002"];
  indices_["posts-000003"]["mappings"]["_meta"]["lockstep"]["identity"] = "somebody else";
  indices_["posts-backup"] = indices_["posts-000002"];
  EXPECT_THAT(deployment_.removal_plan(Indices::kDeleted).steps, testing::SizeIs(2));
  deployment_.remove(Indices::kDeleted, progress_);
  EXPECT_THAT(changes_, ElementsAre("delete posts-000001", "delete posts-000002", "remove"));
}

}  // namespace
}  // namespace lockstep
