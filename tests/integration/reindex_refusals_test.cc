// What keeps a new generation from being swapped in, and the ways out of it, over each source: documents that
// are refused, almost all of them refused, an alias that somebody has moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/postgres_database.h"
#include "tests/support/program.h"
#include "tests/support/sqlite_application.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kSchema =
    "create table posts (id integer primary key, title text);"
    "create view documents as select id as _id, title from posts;"
    "insert into posts with recursive n(i) as (select 1 union all select i + 1 from n where i < 20) "
    "select i, 'post ' || i from n";

std::string mapping_of_title(const std::string& type, const std::string& settings = {}) {
  return R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0)" + settings + R"(},
             "mappings": {"dynamic": false, "properties": {"title": {"type": ")" +
         type + R"("}}}})";
}

/// The same tables in each database.
class OverPostgres {
 public:
  OverPostgres() { execute(kSchema); }

  std::unique_ptr<PipelineUnderTest> pipeline() { return std::make_unique<PipelineUnderTest>(database_); }
  void execute(const std::string& sql) { database_.execute(sql); }
  std::int64_t number(const std::string& sql) { return database_.number(sql); }
  /// A table of the application or a view, as a configuration names it.
  static std::string named(const std::string& table) { return "public." + table; }
  static std::string own(const std::string& table) { return "lockstep." + table; }

 private:
  PostgresDatabase database_;
};

class OverSqlite {
 public:
  OverSqlite() { execute(std::string("pragma journal_mode = wal; ") + kSchema); }

  std::unique_ptr<PipelineUnderTest> pipeline() const {
    return std::make_unique<PipelineUnderTest>("sqlite:" + file_.string());
  }
  void execute(const std::string& sql) { application_.execute(sql); }
  std::int64_t number(const std::string& sql) { return application_.number(sql); }
  static std::string named(const std::string& table) { return table; }
  static std::string own(const std::string& table) { return "lockstep_" + table; }

 private:
  TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "blog.db";
  SqliteApplication application_{file_};
};

template <typename Database>
class ReindexRefusals : public testing::Test {
 protected:
  ReindexRefusals()
      : pipeline_(database_.pipeline()),
        posts_(pipeline_->add_index("refusals", Database::named("documents"), track(Database::named("posts")),
                                    mapping_of_title("text"))) {}

  void TearDown() override {
    if (this->HasFailure() && program_) std::cerr << program_->err() << '\n';
  }

  void follow() {
    pipeline_->apply();
    program_ = pipeline_->start();
    expect_equal();
  }
  void expect_equal() const {
    pipeline_->must("wait", {"--refresh", "--timeout", "60s"});
    pipeline_->must("verify");
  }

  std::string generation(int number) const { return posts_.alias() + "-00000" + std::to_string(number); }
  std::string stands_for() const {
    return posts_.server().expect("GET", "/_alias/" + posts_.alias()).begin().key();
  }
  std::unique_ptr<Program> begin_reindex(const std::vector<std::string>& arguments = {}) const {
    std::vector<std::string> all{"reindex", "-c", pipeline_->configuration().string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return std::make_unique<Program>(lockstep_program(), all);
  }
  static testing::AssertionResult says(const Program& program, const std::string& words) {
    if (wait_until([&] { return program.err().find(words) != std::string::npos; }, kPatience))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << "not \"" << words << "\" but " << program.err();
  }
  void move_alias(const std::string& from, const std::string& to) const {
    const std::string alias = R"(", "alias": ")" + posts_.alias() + R"("}})";
    posts_.server().expect("POST", "/_aliases",
                           R"({"actions": [{"remove": {"index": ")" + from + alias +
                               R"(, {"add": {"index": ")" + to + alias + "]}");
  }
  /// Nothing of a reindex is left on either side.
  void expect_nothing_left(int generation_number) {
    EXPECT_EQ(database_.number("select count(*) from " + Database::own("reindex")), 0);
    EXPECT_EQ(database_.number("select count(*) from " + Database::own("index")), 1);
    EXPECT_THAT(posts_.concrete(), ElementsAre(generation(generation_number)));
  }

  Database database_;
  const std::unique_ptr<PipelineUnderTest> pipeline_;
  ElasticsearchIndex& posts_;
  std::unique_ptr<Program> program_;
};

using Databases = testing::Types<OverPostgres, OverSqlite>;
struct DatabaseName {
  template <typename Database>
  static std::string GetName(int /*number*/) {
    return std::is_same_v<Database, OverSqlite> ? "Sqlite" : "Postgres";
  }
};
TYPED_TEST_SUITE(ReindexRefusals, Databases, DatabaseName);

TYPED_TEST(ReindexRefusals, AWishThatNoProcessCanCarryOutIsStoredAndEndsTheCommand) {
  this->follow();
  this->database_.execute("update posts set title = '17' where id <= 15");
  this->pipeline_->set_mapping("refusals", mapping_of_title("integer"));
  const auto reindex = this->begin_reindex();
  EXPECT_TRUE(this->says(*reindex, " has are refused"));
  reindex->signal(SIGINT);
  EXPECT_EQ(reindex->wait(kPatience), 1);
  EXPECT_THAT(reindex->err(), HasSubstr("or take it back with --abort"));
  this->program_->signal(SIGTERM);
  EXPECT_EQ(this->program_->wait(kPatience), 0);
  const Completed abort = this->pipeline_->lockstep("reindex", {"--abort"});
  EXPECT_EQ(abort.exit_code, 0) << abort.err;
  EXPECT_THAT(abort.out, HasSubstr("the request is stored, and takes effect when `lockstep run` leads"));
  EXPECT_THAT(abort.err, testing::Not(HasSubstr("wanted: abort")));
  this->program_ = this->pipeline_->start();
  const std::string reindexes = "select count(*) from " + TypeParam::own("reindex");
  EXPECT_TRUE(wait_until([&] { return this->database_.number(reindexes) == 0; }, kPatience));
  this->expect_equal();
  this->expect_nothing_left(1);
}

TYPED_TEST(ReindexRefusals, AMappingThatRefusesDocumentsIsNotSwappedIn) {
  this->follow();
  this->database_.execute("update posts set title = '17' where id <= 15");
  this->pipeline_->set_mapping("refusals", mapping_of_title("integer"));
  const auto reindex = this->begin_reindex();
  const std::string reason = "5 documents that " + this->generation(1) + " has are refused";
  EXPECT_TRUE(this->says(*reindex, reason));
  EXPECT_EQ(this->stands_for(), this->generation(1));
  EXPECT_THAT(this->pipeline_->must("status"), HasSubstr(reason));
  EXPECT_THAT(this->pipeline_->must("dead-letters", {"list", "--index", this->generation(2)}),
              HasSubstr("parsing_exception"));
  const Completed kept = this->pipeline_->lockstep("dead-letters", {"discard", "--yes", "--all"});
  EXPECT_EQ(kept.exit_code, 2) << "nothing would stand in the way of an index that differs";
  EXPECT_THAT(kept.err, HasSubstr("may move to " + this->generation(2)));
  this->pipeline_->must("dead-letters", {"discard", "--yes", "--index", this->posts_.alias()});
  EXPECT_EQ(this->pipeline_->lockstep("reindex", {"--back"}).exit_code, 2) << "the alias has not moved";
  this->pipeline_->must("reindex", {"--abort"});
  this->expect_nothing_left(1);
  EXPECT_EQ(reindex->wait(kPatience), 1) << "whoever watched it is told";
  this->expect_equal();
}

TYPED_TEST(ReindexRefusals, AMappingThatRefusesDocumentsIsSwappedInByForceAndLeftByBack) {
  this->follow();
  this->database_.execute("update posts set title = '17' where id <= 15");
  this->pipeline_->set_mapping("refusals", mapping_of_title("integer"));
  const auto reindex = this->begin_reindex();
  EXPECT_TRUE(this->says(*reindex, "5 documents that"));
  this->pipeline_->lockstep("reindex", {this->posts_.alias(), "--force"});
  EXPECT_EQ(reindex->wait(kPatience), 0) << reindex->err();
  EXPECT_EQ(this->stands_for(), this->generation(2));
  EXPECT_EQ(this->posts_.count(), 15);
  this->pipeline_->must("reindex", {"--back"});
  EXPECT_EQ(this->stands_for(), this->generation(1));
  EXPECT_EQ(this->posts_.count(), 20) << "nothing was lost on the way";
}

TYPED_TEST(ReindexRefusals, AMappingThatRefusesAlmostEverythingEndsTheReindexAndNothingElse) {
  this->database_.execute(
      "insert into posts with recursive n(i) as (select 101 union all select i + 1 from n where i < 2600) "
      "select i, 'post' from n");
  this->follow();
  this->pipeline_->set_mapping("refusals", mapping_of_title("integer"));
  const Completed failed = this->pipeline_->lockstep("reindex");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("parsing_exception"));
  EXPECT_TRUE(this->program_->running());
  this->database_.execute("update posts set title = 'afterwards' where id = 1");
  this->pipeline_->must("reindex", {"--abort"});
  this->expect_nothing_left(1);
  this->expect_equal();
}

// A request that is on its way when its sender dies may arrive after the deletion of its document.
// Elasticsearch must not have forgotten that by then.
TYPED_TEST(ReindexRefusals, AnIndexThatForgetsDeletionsAtOnceIsNotMade) {
  this->follow();
  const std::string forgets = "gc_deletes 0s: a write that arrives late may bring a deleted document back";
  this->pipeline_->set_mapping("refusals", mapping_of_title("keyword", R"(, "gc_deletes": "0s")"));
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{}, {"--dry-run"}}) {
    const Completed refused = this->pipeline_->lockstep("reindex", arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(forgets));
  }
  this->pipeline_->set_mapping("refusals", mapping_of_title("text", R"(, "gc_deletes": "0s")"));
  EXPECT_THAT(this->pipeline_->lockstep("plan").out, HasSubstr(forgets));
  EXPECT_EQ(this->pipeline_->lockstep("apply", {"--yes"}).exit_code, 1) << "it could be done in place";
  this->expect_nothing_left(1);
}

// Somebody who left a field out of _source had every document swapped in without it.
TYPED_TEST(ReindexRefusals, AMappingThatDoesNotKeepDocumentsWholeIsRefused) {
  this->follow();
  const std::string why = "sets a _source that is not kept whole";
  for (const char* const source : {R"({"excludes": ["title"]})", R"({"enabled": false})"}) {
    this->pipeline_->set_mapping("refusals", std::string(R"({"settings": {"number_of_replicas": 0},
        "mappings": {"dynamic": false, "_source": )") +
                                                 source + "}}");
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{}, {"--dry-run"}}) {
      const Completed refused = this->pipeline_->lockstep("reindex", arguments);
      EXPECT_EQ(refused.exit_code, 2);
      EXPECT_THAT(refused.err, HasSubstr(why));
    }
    EXPECT_THAT(this->pipeline_->lockstep("check").out, HasSubstr(why));
    EXPECT_EQ(this->pipeline_->lockstep("apply", {"--yes"}).exit_code, 1);
  }
  this->expect_nothing_left(1);
}

TYPED_TEST(ReindexRefusals, ATemplateThatMakesAnIndexUnfitStopsTheReindexUntilItIsMended) {
  this->follow();
  ElasticsearchServer& server = this->posts_.server();
  const std::string path = "/_index_template/" + this->posts_.alias();
  const auto put_template = [&](const std::string& parts) {
    server.expect("PUT", path,
                  R"({"index_patterns": [")" + this->posts_.alias() + R"(-0*"], "priority": 900,
                      "template": {)" +
                      parts + "}}");
  };
  put_template(R"("settings": {"index.gc_deletes": "1s"})");
  this->pipeline_->set_mapping("refusals", mapping_of_title("keyword"));
  const auto reindex = this->begin_reindex();
  EXPECT_TRUE(this->says(*reindex, "an index template of Elasticsearch sets index.gc_deletes 1s"));
  put_template(R"("mappings": {"_source": {"excludes": ["title"]}})");
  EXPECT_TRUE(
      this->says(*reindex, "an index template of Elasticsearch sets a _source that is not kept whole"));
  EXPECT_THAT(this->posts_.concrete(), ElementsAre(this->generation(1)));
  put_template("");
  EXPECT_EQ(reindex->wait(kPatience), 0) << reindex->err();
  server.expect("DELETE", path);
  this->expect_equal();
}

TYPED_TEST(ReindexRefusals, AnAliasThatSomebodyHasMovedIsLeftThere) {
  this->follow();
  this->pipeline_->set_mapping("refusals", mapping_of_title("keyword"));
  this->pipeline_->must("reindex");
  const std::string mine = this->posts_.alias() + "-mine";
  this->posts_.server().expect("PUT", "/" + mine);
  this->move_alias(this->generation(2), mine);
  const auto back = this->begin_reindex({"--back"});
  EXPECT_TRUE(this->says(*back, "points to"));
  EXPECT_EQ(this->stands_for(), mine);
  this->database_.execute("update posts set title = 'meanwhile' where id = 1");
  this->move_alias(mine, this->generation(2));
  EXPECT_EQ(back->wait(kPatience), 0) << back->err();
  EXPECT_EQ(this->stands_for(), this->generation(1));
  this->expect_equal();
}

}  // namespace
}  // namespace lockstep::support
