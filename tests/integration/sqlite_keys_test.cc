// Keys that SQLite takes and Elasticsearch or JSON do not, from the application's insert to what `verify`
// says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/sqlite_application.h"

namespace lockstep::support {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;

/// A pipeline over a file of its own.
struct Followed {
  explicit Followed(const std::string& schema) {
    application.execute("pragma journal_mode = wal; " + schema);
  }

  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "app.db";
  SqliteApplication application{file};
  PipelineUnderTest pipeline{"sqlite:" + file.string()};
};

// `wait` ended with 0, the first document was missing, the others made no dead letter or stopped `verify`,
// and `verify` said "equal".
TEST(SqliteKeys, APoisonedKeyIsWrittenOrADeadLetterAndVerifyTellsWhich) {
  Followed followed(
      "create table t (k primary key, name); "
      "create view docs as select k as _id, name from t; insert into t values ('before', 1)");
  auto& [folder, file, application, pipeline] = followed;
  ElasticsearchIndex& index = pipeline.add_index("keys", "docs", track("t"));
  pipeline.apply();
  const auto service = pipeline.start();
  pipeline.must("wait");
  application.execute(
      "insert into t values ('a' || char(0) || 'b', 'nul'), (9e999, 'infinite'), ('', 'empty'), "
      "(cast(x'fe41' as text), 'not UTF-8'), (x'31ff', 'blob'), ('good', 'one')");
  pipeline.must("wait", {"--refresh"});
  EXPECT_EQ(index.count(), 4) << service->err();
  ASSERT_TRUE(index.get("a\0b"s));
  EXPECT_EQ(index.get("Infinity")->json, R"({"name":"infinite"})");
  EXPECT_TRUE(index.get("good"));
  EXPECT_THAT(pipeline.must("dead-letters", {"list"}),
              AllOf(HasSubstr("the _id is empty"), HasSubstr("x'fe41'"), HasSubstr("\"31ff\"")));

  const Completed verified = pipeline.lockstep("verify");
  EXPECT_EQ(verified.exit_code, 3) << verified.out << verified.err;
  EXPECT_EQ(std::count(verified.out.begin(), verified.out.end(), '\n'), 3) << verified.out;
  EXPECT_THAT(verified.out, AllOf(HasSubstr("missing\t\"\""), HasSubstr("missing\t\"31ff\"")));

  application.execute(
      "update t set name = 'mended' where k = 'a' || char(0) || 'b'; "
      "delete from t where name in ('empty', 'blob') or k = cast(x'fe41' as text)");
  pipeline.must("wait");
  EXPECT_EQ(index.get("a\0b"s)->json, R"({"name":"mended"})");
  EXPECT_EQ(pipeline.must("dead-letters", {"list"}), "");
  pipeline.must("verify");
}

// It was tried again without end, since Elasticsearch refuses requests that ask for an empty _id.
TEST(SqliteKeys, AComparisonOfAnIndexWithAnEmptyKeyEnds) {
  Followed followed(
      "create table t (k text primary key, name); "
      "create view docs as select k as _id, name from t; insert into t values ('', 'empty'), ('a', 'old')");
  auto& [folder, file, application, pipeline] = followed;
  ElasticsearchIndex& index = pipeline.add_index("keys", "docs", track("t"));
  pipeline.apply();
  pipeline.catch_up();
  index.damage("a", R"({"name":"altered"})");
  application.execute(
      "insert into lockstep_job (id, pipeline, index_id, kind, reason) "
      "select 999, pipeline, id, 'comparison', 'a test' from lockstep_index");
  pipeline.catch_up();
  EXPECT_EQ(index.get("a")->json, R"({"name":"old"})");
}

// A null was taken for a key that leads nowhere before `row` was looked at: the others stayed stale, and
// nothing said so.
TEST(SqliteKeys, ANullIsAValueForRowAndKeys) {
  for (const auto& [row, keys] : std::map<std::string, std::string>{
           {"coalesce(team, 0)",
            "select id from player where coalesce(team, 0) in (select value from json_each($1))"},
           {"case when team is null then 1 end",
            "select id from player where team is null and $1 is not null"},
           {"team", "select p.id from player as p join json_each($1) as v on v.value is p.team"}}) {
    Followed followed(
        "create table player (id integer primary key, team int, score int); "
        "insert into player values (1, null, 10), (2, null, 20), (3, 7, 5); "
        "create view ranks as select id as _id, rank() over (partition by team order by score desc) as place "
        "from player");
    auto& [folder, file, application, pipeline] = followed;
    ElasticsearchIndex& index = pipeline.add_index(
        "ranks", "ranks",
        track("player") + track("player") + "row = \"" + row + "\"\nkeys = \"" + keys + "\"\n");
    pipeline.apply();
    const auto service = pipeline.start();
    pipeline.must("wait");
    application.execute("update player set score = 99 where id = 1");
    pipeline.must("wait", {"--refresh"});
    EXPECT_EQ(index.get("2")->json, R"({"place":2})") << row;
    pipeline.must("verify");
  }
}

}  // namespace
}  // namespace lockstep::support
