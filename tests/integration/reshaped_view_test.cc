// A view that has got or lost columns under its old name since the last `apply`: what reindex, verify and a
// later `apply` make of it, in both sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/postgres_database.h"
#include "tests/support/program.h"
#include "tests/support/sqlite_application.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kPosts = 60;
constexpr const char* kColumns = "p.id as _id, p.title, p.body";
constexpr const char* kWithLength = "p.id as _id, p.title, p.body, length(p.body) as length";

/// That takes these fields and no others.
std::string strict_mapping(const std::string& title, const std::string& more = "") {
  return R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "50ms"},
             "mappings": {"dynamic": "strict", "properties": {"title": {"type": ")" +
         title + R"("}, "body": {"type": "text"})" + more + "}}}";
}
constexpr const char* kLength = R"(, "length": {"type": "integer"})";

class ReshapedView : public testing::TestWithParam<const char*> {
 protected:
  ReshapedView() {
    if (is_postgres()) {
      database_ = std::make_unique<PostgresDatabase>();
      pipeline_ = std::make_unique<PipelineUnderTest>(*database_);
    } else {
      const std::filesystem::path file = folder_.path() / "blog.db";
      application_ = std::make_unique<SqliteApplication>(file);
      application_->execute("pragma journal_mode = wal");
      pipeline_ = std::make_unique<PipelineUnderTest>("sqlite:" + file.string());
    }
    execute(
        "create table posts (id integer primary key, title text, body text); "
        "create table tags (post_id integer primary key, tag text); "
        "insert into posts with recursive n(i) as (select 1 union all select i + 1 from n where i < 60) "
        "select i, 'title ' || i, 'body ' || i from n");
    execute("create view posts_view as select " + std::string(kColumns) + " from posts as p");
    posts_ =
        &pipeline_->add_index("reshaped", view("posts_view"), track(view("posts")), strict_mapping("text"));
    pipeline_->apply();
    program_ = pipeline_->start();
    pipeline_->must("wait", {"--refresh"});
  }

  void TearDown() override {
    if (HasFailure()) std::cout << program_->err() << '\n';
  }

  static bool is_postgres() { return GetParam() == std::string("postgresql"); }
  static std::string view(const std::string& name) { return (is_postgres() ? "public." : "") + name; }
  void execute(const std::string& sql) {
    is_postgres() ? database_->execute(sql) : application_->execute(sql);
  }
  void replace_view(const std::string& columns, const std::string& from = "posts as p") {
    execute("begin; drop view posts_view; create view posts_view as select " + columns + " from " + from +
            "; commit");
  }
  std::int64_t number(const std::string& of, const std::string& table) {
    const std::string sql = "select " + of + " from lockstep" + (is_postgres() ? "." : "_") + table;
    return is_postgres() ? database_->number(sql) : application_->number(sql);
  }
  std::string state() {
    const json reindexes = pipeline_->status().at("reindexes");
    return reindexes.empty() ? "none" : reindexes.at(0).at("state");
  }
  /// Of the documents that searchers find.
  std::int64_t documents_with(const std::string& field) {
    posts_->server().expect("POST", "/" + posts_->alias() + "/_refresh");
    std::int64_t found = 0;
    const json hits = posts_->server().expect("GET", "/" + posts_->alias() + "/_search?size=1000");
    for (const json& hit : hits.at("hits").at("hits")) found += hit.at("_source").contains(field) ? 1 : 0;
    return found;
  }
  std::string generation(int number) const { return posts_->alias() + "-00000" + std::to_string(number); }
  void expect_equal() {
    pipeline_->must("wait", {"--refresh"});
    pipeline_->must("verify");
  }

  TemporaryFolder folder_;
  std::unique_ptr<PostgresDatabase> database_;
  std::unique_ptr<SqliteApplication> application_;
  std::unique_ptr<PipelineUnderTest> pipeline_;
  ElasticsearchIndex* posts_ = nullptr;
  std::unique_ptr<Program> program_;
};

INSTANTIATE_TEST_SUITE_P(Sources, ReshapedView, testing::Values("postgresql", "sqlite"),
                         [](const auto& source) { return std::string(source.param); });

// It ended with 0, and so did `verify`, and no document had the column.
TEST_P(ReshapedView, AReindexOfAViewWithOneMoreColumnFillsIt) {
  replace_view(kWithLength);
  pipeline_->set_mapping("reshaped", strict_mapping("keyword", kLength));
  pipeline_->must("reindex", {posts_->alias()});
  EXPECT_EQ(documents_with("length"), kPosts);
  EXPECT_THAT(pipeline_->must("plan"), HasSubstr("nothing to do"));
  execute("update posts set body = 'another' where id = 1");
  expect_equal();
  EXPECT_EQ(number("count(*)", "dead_letter"), 0);

  // The kept generation, whose mapping refuses the column, goes on without it.
  pipeline_->apply();
  const Completed verified = pipeline_->lockstep("verify", {generation(1)});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.err,
              HasSubstr("kept without what its view got later, column length is not in the documents"));
  pipeline_->must("reindex", {"--back"});
  EXPECT_EQ(documents_with("length"), 0);
  EXPECT_EQ(documents_with("body"), kPosts);
  EXPECT_TRUE(wait_until(
      [&] { return pipeline_->must("status").find("its documents have no length") != std::string::npos; },
      kPatience));
  pipeline_->must("wait", {"--refresh"});
  EXPECT_EQ(pipeline_->lockstep("verify").exit_code, 3) << "what is searched now has not the view's columns";
  pipeline_->must("reindex", {"--back"});
  EXPECT_EQ(documents_with("length"), kPosts);
  EXPECT_EQ(number("count(*)", "dead_letter"), 0);
  pipeline_->must("reindex", {"--finish", "--yes"});
  expect_equal();
  EXPECT_THAT(pipeline_->must("plan"), HasSubstr("nothing to do"));
}

// `apply` brought the column to the kept generation too, whose mapping refused each of its documents.
TEST_P(ReshapedView, AColumnThatTheViewGetsLaterMakesNoDeadLettersOfTheKeptGeneration) {
  pipeline_->must("reindex", {posts_->alias()});
  replace_view(kWithLength);
  pipeline_->set_mapping("reshaped", strict_mapping("text", kLength));
  pipeline_->apply();
  pipeline_->must("wait", {"--refresh"});
  EXPECT_EQ(documents_with("length"), kPosts);
  execute("update posts set body = 'another' where id = 1");
  expect_equal();
  EXPECT_TRUE(wait_until([&] { return number("count(*)", "job") == 0; }, kPatience)) << "of the other one";
  EXPECT_EQ(number("count(*)", "dead_letter"), 0);
  EXPECT_THAT(pipeline_->must("plan"), Not(HasSubstr("written again")));
  pipeline_->must("reindex", {"--back"});
  EXPECT_EQ(documents_with("body"), kPosts) << "the way back has lost nothing";
}

// "60 documents compared, equal", of documents without the column.
TEST_P(ReshapedView, VerifyDoesNotReportEqualWhereTheViewHasAnotherShape) {
  const auto expect_unproven = [&](const std::string& columns, const std::string& why) {
    replace_view(columns);
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{}, {"--repair"}}) {
      const Completed verified = pipeline_->lockstep("verify", arguments);
      EXPECT_EQ(verified.exit_code, 3) << verified.out << verified.err;
      EXPECT_THAT(verified.err, AllOf(HasSubstr(why), HasSubstr("run `lockstep apply`")));
    }
  };
  expect_unproven(kWithLength, "column length is not in the documents");
  expect_unproven("p.id as _id, p.title, p.body, p.title as _routing", "_routing");
  pipeline_->apply();
  expect_equal();
}

// It had what was written until then, and the alias moved to it all the same.
TEST_P(ReshapedView, TheAliasWaitsWhereTheViewGetsAColumnWhileTheReindexFills) {
  pipeline_->set_mapping("reshaped", strict_mapping("text", kLength));
  const Program reindex(lockstep_program(), {"reindex", "-c", pipeline_->configuration().string(),
                                             posts_->alias(), "--max-rate", "20"});
  ASSERT_TRUE(wait_until([&] { return state() == "filling"; }, kPatience));
  replace_view(kWithLength);
  const auto reason = [&]() -> std::string {
    const json reindexes = pipeline_->status().at("reindexes");
    return reindexes.empty() ? "" : reindexes.at(0).at("reason");
  };
  ASSERT_TRUE(wait_until([&] { return reason().find("column length") != std::string::npos; }, kPatience))
      << state() << " " << reason();
  EXPECT_THAT(reason(), HasSubstr("run `lockstep apply`"));
  pipeline_->apply();
  EXPECT_TRUE(wait_until([&] { return state() == "kept"; }, kPatience)) << state() << " " << reason();
  EXPECT_EQ(documents_with("length"), kPosts);
  expect_equal();
}

// The new index lacked the routing, and kept the column that is gone.
TEST_P(ReshapedView, AReindexTakesARoutingAndLeavesAColumnThatIsGone) {
  replace_view("p.id as _id, p.title, p.title as _routing");
  pipeline_->must("reindex", {posts_->alias()});
  pipeline_->must("wait", {"--refresh"});
  EXPECT_EQ(documents_with("body"), 0);
  EXPECT_THAT(posts_->server().expect("GET", "/" + posts_->alias() + "/_search?size=1").dump(),
              HasSubstr("\"_routing\":\"title"));
  expect_equal();
  EXPECT_THAT(pipeline_->must("plan"), HasSubstr("nothing to do"));
}

// The new index was filled, and changes of the table did not reach it.
TEST_P(ReshapedView, AReindexRefusesAColumnOfATableThatNoTrackNames) {
  replace_view("p.id as _id, p.title, p.body, t.tag", "posts as p left join tags as t on t.post_id = p.id");
  pipeline_->set_mapping("reshaped", strict_mapping("text", R"(, "tag": {"type": "text"})"));
  const Completed refused = pipeline_->lockstep("reindex", {posts_->alias()});
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("tags"));
  EXPECT_EQ(state(), "none");

  // With the track in the configuration the index that there is still has none.
  pipeline_->set_tracks("reshaped", track(view("posts")) + track(view("tags"), {{"row", "post_id"}}));
  const Completed untracked = pipeline_->lockstep("reindex", {posts_->alias()});
  EXPECT_EQ(untracked.exit_code, 2) << untracked.out << untracked.err;
  EXPECT_THAT(untracked.err, HasSubstr("as it was applied"));
  EXPECT_THAT(untracked.err, HasSubstr("lockstep apply"));
  EXPECT_EQ(state(), "none");
  pipeline_->apply();
  pipeline_->must("reindex", {posts_->alias()});
  expect_equal();
}

// It ended with 0, and changes of the other table, or of the other column, did not reach the new index.
TEST_P(ReshapedView, AReindexOfAViewThatReadsAnotherTableThroughAColumnItHadDoesNotMissItsChanges) {
  replace_view("p.id as _id, p.title, t.tag as body", "posts as p left join tags as t on t.post_id = p.id");
  const Completed refused = pipeline_->lockstep("reindex", {posts_->alias()});
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("tags"));
  EXPECT_EQ(state(), "none");

  execute("alter table posts add column subtitle text");
  replace_view("p.id as _id, p.title, p.subtitle as body");
  pipeline_->must("reindex", {posts_->alias()});
  execute("update posts set subtitle = 'now read' where id = 1");
  expect_equal();
  EXPECT_THAT(posts_->get("1")->json, HasSubstr("now read"));
  EXPECT_THAT(pipeline_->must("plan"), HasSubstr("nothing to do"));
}

}  // namespace
}  // namespace lockstep::support
