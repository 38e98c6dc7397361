#include "replicator/pipeline/preflight.h"

#include <gmock/gmock.h>

#include <map>
#include <stdexcept>

#include "replicator/error.h"

namespace lockstep {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CheckedDefinition final : public SourceDefinition {
 public:
  CheckedDefinition(std::vector<Finding> findings, std::vector<std::string> fields)
      : findings_(std::move(findings)), fields_({{"posts", std::move(fields)}}) {}

  std::string server() override { return "PostgreSQL 15.4"; }
  std::vector<Finding> check() override { return findings_; }
  std::map<std::string, std::vector<std::string>> document_fields() override { return fields_; }
  std::string identity() override { return ""; }

  std::string user() override { throw std::logic_error("check does not ask this"); }
  std::vector<std::string> applied_aliases() override { return applied; }
  std::map<std::string, std::vector<DefinitionDifference>> definition_differences() override { return {}; }
  std::vector<std::string> redefined_aliases() override { return {}; }
  std::vector<std::string> altered_aliases() override { return {}; }
  bool start_reindex(const WantedReindex&, const Progress&) override { return false; }
  void drop_unneeded(const Progress&) override {}
  void refill(const std::vector<std::string>&, const std::string&) override {
    throw std::logic_error("check changes nothing");
  }
  void note_filled(std::set<std::string>) override {}
  std::vector<PlanStep> plan() override { throw std::logic_error("check does not ask this"); }
  void apply(const Progress&) override { throw std::logic_error("check changes nothing"); }
  std::vector<PlanStep> removal_plan() override { throw std::logic_error("check does not ask this"); }
  void remove(const Progress&) override { throw std::logic_error("check changes nothing"); }
  std::vector<std::string> privileges_for(const std::string&) override { return {}; }

  std::vector<std::string> applied;

 private:
  std::vector<Finding> findings_;
  std::map<std::string, std::vector<std::string>> fields_;
};

// Answers by the beginning of the path, as a fresh Elasticsearch would; tests put their own answers in.
struct Answers {
  std::map<std::string, HttpResponse> by_path = {
      {"/ ", {200, R"({"version": {"number": "7.10.2"}, "cluster_name": "c", "cluster_uuid": "u"})"}},
      {"/_security", {400, R"({"error": "no handler found"})"}},
      {"/_plugins/_security", {400, R"({"error": "no handler found"})"}},
      {"/_index_template/_simulate", {200, R"({"template": {"mappings": {}}})"}},
      {"/posts-*", {200, "{}"}},
      {"/posts?", {404, R"({"error": {"type": "index_not_found_exception"}})"}},
  };
  bool away = false;
};

class AnsweringTransport final : public HttpTransport {
 public:
  explicit AnsweringTransport(const Answers& answers) : answers_(answers) {}

  HttpResponse perform(const HttpRequest& request) override {
    if (answers_.away) throw TransportError("http://es1:9200: refused", false);
    const std::string path = request.path + " ";
    for (const auto& [beginning, answer] : answers_.by_path) {
      if (path.starts_with(beginning)) return answer;
    }
    throw std::logic_error("no answer for " + path);
  }

 private:
  const Answers& answers_;
};

class PreflightTest : public testing::Test {
 protected:
  PreflightTest() {
    config_.file = "shop.toml";
    config_.pipeline = "shop";
    IndexConfig index;
    index.alias = "posts";
    index.view = "search.posts";
    index.mapping = "posts.json";
    index.mapping_json = R"({"mappings": {}})";
    index.line = 12;
    config_.indices.push_back(index);
  }

  Preflight check() {
    ElasticsearchClient elasticsearch(std::make_unique<AnsweringTransport>(answers_));
    return preflight(
        config_,
        [&]() -> std::unique_ptr<SourceDefinition> {
          if (source_away_) {
            throw Error({"connecting to the source", "refused", "start it", Retry::kLater, Server::kSource});
          }
          auto definition = std::make_unique<CheckedDefinition>(source_findings_, fields_);
          definition->applied = applied_;
          return definition;
        },
        elasticsearch);
  }

  Config config_;
  Answers answers_;
  std::vector<Finding> source_findings_;
  std::vector<std::string> fields_;  // of the documents
  std::vector<std::string> applied_;
  bool source_away_ = false;
};

TEST_F(PreflightTest, NothingIsFoundWhereNothingIsWrong) {
  const Preflight result = check();
  EXPECT_THAT(result.findings, IsEmpty());
  EXPECT_THAT(result.servers, ElementsAre("PostgreSQL 15.4", "Elasticsearch 7.10.2"));
}

TEST_F(PreflightTest, ViewColumnThatAStrictMappingDoesNotHaveIsFoundWithTheMappingsName) {
  fields_ = {"title", "user.name", "body"};
  EXPECT_THAT(check().findings, IsEmpty());
  config_.indices[0].mapping_json =
      R"({"mappings": {"dynamic": "strict", "properties": {"title": {"type": "text"}, "user": {"properties": {}}}}})";
  const Preflight result = check();
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_THAT(to_line(result.findings[0]), HasSubstr("posts.json: view search.posts gives fields"));
  EXPECT_THAT(to_line(result.findings[0]), HasSubstr("would be refused: body; add them"));
}

// `status` showed it, and `check` printed "no errors".
TEST_F(PreflightTest, AnAppliedIndexThatWasDeletedIsAnError) {
  applied_ = {"posts"};
  const Preflight result = check();
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_THAT(to_line(result.findings[0]), HasSubstr("index posts was applied, and there is no index"));
  EXPECT_FALSE(has_errors(result.findings, Finding::Cause::kDefinition));
}

TEST_F(PreflightTest, BothServersThatAreAwayAreFindings) {
  source_away_ = true;
  answers_.away = true;
  const Preflight result = check();
  ASSERT_THAT(result.findings, SizeIs(2));
  EXPECT_EQ(to_line(result.findings[0]), "source: connecting to the source: refused; start it");
  EXPECT_EQ(to_line(result.findings[1]), "elasticsearch: http://es1:9200: refused");
  EXPECT_TRUE(has_errors(result.findings));
  EXPECT_FALSE(has_errors(result.findings, Finding::Cause::kDefinition));
}

TEST_F(PreflightTest, AnElasticsearchThatIsAwayHidesNoFaultOfTheDatabase) {
  answers_.away = true;
  source_findings_ = {{Finding::Severity::kWarning, "view search.posts", "depends on the time", ""}};
  const Preflight result = check();
  ASSERT_THAT(result.findings, SizeIs(2));
  EXPECT_EQ(result.findings[0].severity, Finding::Severity::kWarning);
}

TEST_F(PreflightTest, AMappingThatIsRefusedNamesTheFile) {
  answers_.by_path["/_index_template/_simulate"] = {
      400, R"({"error": {"type": "mapper_parsing_exception", "reason": "No handler for type [txet]"}})"};
  const Preflight result = check();
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_EQ(result.findings[0].place, "posts.json");
  EXPECT_THAT(result.findings[0].message, HasSubstr("No handler for type [txet]"));
  EXPECT_TRUE(has_errors(result.findings, Finding::Cause::kDefinition));
}

TEST_F(PreflightTest, AMappingIsCheckedEvenWithoutTheSource) {
  source_away_ = true;
  answers_.by_path["/_index_template/_simulate"] = {400, R"({"error": {"type": "t", "reason": "r"}})"};
  EXPECT_THAT(check().findings, SizeIs(2));
}

TEST_F(PreflightTest, AMarkThatNobodyCanReadHidesNoFaultOfAnotherIndex) {
  IndexConfig users = config_.indices[0];
  users.alias = "users";
  users.line = 20;
  config_.indices.push_back(users);
  answers_.by_path["/posts?"] = {200, R"({"posts-000001": {"aliases": {"posts": {}}, "settings": {},
      "mappings": {"_meta": {"lockstep": {"epoch": "many"}}}}})"};
  answers_.by_path["/users?"] = {200,
                                 R"({"theirs": {"aliases": {"users": {}}, "mappings": {}, "settings": {}}})"};
  const Preflight result = check();
  ASSERT_THAT(result.findings, SizeIs(2));
  EXPECT_THAT(to_line(result.findings[0]),
              HasSubstr("shop.toml:12: reading the mark of the index posts-000001: "));
  EXPECT_THAT(to_line(result.findings[1]), HasSubstr("shop.toml:20: "));
}

TEST_F(PreflightTest, AnIndexOfSomebodyElseNamesTheLine) {
  answers_.by_path["/posts?"] = {200,
                                 R"({"theirs": {"aliases": {"posts": {}}, "mappings": {}, "settings": {}}})"};
  const Preflight result = check();
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_EQ(result.findings[0].place, "shop.toml:12");
}

TEST_F(PreflightTest, AnIndexThatForgetsDeletionsEarlyIsRefused) {
  for (const char* const time : {"60s", "1m", "2d"}) {
    config_.indices[0].mapping_json =
        std::string(R"({"mappings": {}, "settings": {"gc_deletes": ")") + time + "\"}}";
    EXPECT_THAT(check().findings, IsEmpty()) << time;
  }
  for (const char* const time : {"0", "0s", "59s", "900ms", "5micros", "-1"}) {
    config_.indices[0].mapping_json =
        std::string(R"({"mappings": {}, "settings": {"index": {"gc_deletes": ")") + time + "\"}}}";
    const Preflight result = check();
    ASSERT_THAT(result.findings, SizeIs(1)) << time;
    EXPECT_EQ(to_line(result.findings[0]), "shop.toml:12: the mapping of posts sets index.gc_deletes " +
                                               std::string(time) +
                                               ": a write that arrives late may bring a deleted document "
                                               "back; set it to 60s or more, or to null");
  }
}

TEST_F(PreflightTest, AnIndexInWhichNoSearchFindsAnythingIsNamedThoughTheMappingFileIsSound) {
  answers_.by_path["/posts?"] = {200, R"({"posts-000001": {"aliases": {"posts": {}}, "settings": {},
      "mappings": {"enabled": false, "_meta": {"lockstep": {"pipeline": "shop", "identity": "uuid-1"}}}}})"};
  EXPECT_THAT(check().findings,
              Contains(Field(&Finding::message,
                             HasSubstr("index posts has \"enabled\": false at the root of its mapping"))));
}

TEST_F(PreflightTest, AnEngineThatIsTooOldIsRefused) {
  answers_.by_path["/ "] = {200,
                            R"({"version": {"number": "6.8.0"}, "cluster_name": "c", "cluster_uuid": "u"})"};
  const Preflight result = check();
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_THAT(result.findings[0].message, HasSubstr("Elasticsearch 6.8.0 is not supported"));
}

TEST_F(PreflightTest, MissingPrivilegesAreNamed) {
  answers_.by_path["/_security"] = {
      200, R"({"cluster": {"monitor": true}, "index": {"posts": {"write": false}}})"};
  const Preflight result = check();
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_EQ(result.findings[0].message, "the user lacks write on posts");
}

}  // namespace
}  // namespace lockstep
