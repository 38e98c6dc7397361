// Whatever a key holds, its document is found again: to be written, changed and deleted.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/blog_pipeline.h"
#include "tests/support/postgres_database.h"

namespace lockstep::support {
namespace {

// An index over a table with a text key, or with whatever the test makes.
class Ids : public testing::Test {
 protected:
  void SetUp() override { database_.execute("create schema s"); }

  void TearDown() override {
    for (const std::string& violation : proxy_.history().violations()) ADD_FAILURE() << violation;
  }

  void bring_up(const std::string& tables_and_view, const std::string& tracks) {
    database_.execute(tables_and_view);
    pipeline_.add_index("docs", "s.docs", tracks);
    pipeline_.apply();
    pipeline_.catch_up();
  }

  std::string changed_and_compared(const std::string& sql) {
    database_.execute(sql);
    pipeline_.catch_up();
    return pipeline_.difference();
  }

  PostgresDatabase database_;
  RecordingProxy proxy_;
  PipelineUnderTest pipeline_{database_, proxy_.url()};
};

std::vector<std::string> strange_ids() {
  std::string all_ascii;
  for (char c = 1; c > 0; ++c) all_ascii += c;  // 1 to 127
  std::string umlauts;
  while (umlauts.size() < 512) umlauts += "ü";
  return {"plain",
          " ",
          " leading and trailing ",
          "a/b",
          "/",
          "//x?y=z&a#b",
          "..",
          ".",
          "_id",
          "_bulk",
          "it's",
          "'tis",
          "'a'",
          "''",
          "\"quoted\"",
          "back\\slash",
          "\\",
          "\\n is not a newline",
          "line\nbreak",
          "\r\n",
          "tab\tbed",
          "100%",
          "%2F",
          "%",
          "a+b",
          "{\"_id\":\"injected\"}",
          "{a,b,NULL}",
          "NULL",
          "null",
          "a,b",
          "{}",
          "$1",
          "$$",
          ";drop table s.keyed;--",
          "007",
          "7",
          "1e3",
          "-0",
          "über",
          "u\xCC\x88"
          "ber",  // the same letters, decomposed: another id
          "ключ",
          "鍵",
          "مفتاح",
          "😀",
          "👨‍👩‍👧",
          "\x01\x02\x1f\x7f",
          "\xEF\xBB\xBFmark",
          "\xE2\x80\xA8separator",
          all_ascii,
          std::string(512, 'x'),
          umlauts};
}

TEST_F(Ids, KeysOfAnyCharactersUpTo512BytesAreWrittenChangedAndDeleted) {
  database_.execute("create table s.keyed (key text primary key, n integer not null)");
  const auto connection = database_.connect();
  for (const std::string& id : strange_ids()) {
    pqxx::work work(*connection);
    work.exec_params0("insert into s.keyed values ($1, 1)", id);
    work.commit();
  }
  bring_up("create view s.docs as select key as _id, n from s.keyed", track("s.keyed"));
  EXPECT_EQ(pipeline_.difference(), "") << "after the backfill";
  EXPECT_EQ(static_cast<std::size_t>(pipeline_.index("docs").count()), strange_ids().size());
  EXPECT_EQ(changed_and_compared("update s.keyed set n = 2"), "") << "after updates";
  EXPECT_EQ(changed_and_compared("update s.keyed set key = '~' || key where octet_length(key) < 500"), "")
      << "after new keys";
  EXPECT_EQ(changed_and_compared("delete from s.keyed where n = 2"), "") << "after deletes";
  EXPECT_EQ(pipeline_.index("docs").count(), 0);
  EXPECT_EQ(database_.number("select count(*) from lockstep.dead_letter"), 0);
}

TEST_F(Ids, ColumnAndQueryTracksFindDocumentsByStrangeKeysToo) {
  database_.execute(
      "create table s.parents (key text primary key, name text); "
      "create table s.children (key text primary key, parent text references s.parents on update cascade)");
  const auto connection = database_.connect();
  for (const std::string& id : strange_ids()) {
    pqxx::work work(*connection);
    work.exec_params0("insert into s.parents values ($1, 'old')", id);
    work.exec_params0("insert into s.children values ($1, $1)", id);
    work.commit();
  }
  database_.execute(
      "create view s.others as select c.key as _id, p.name from s.children c join s.parents p on p.key = "
      "c.parent");
  pipeline_.add_index(
      "others", "s.others",
      track("s.children") +
          track("s.parents", {{"keys", "select key from s.children where parent = any($1)"}}));
  bring_up(
      "create view s.docs as select c.key as _id, c.parent as _parent, p.name from s.children c "
      "join s.parents p on p.key = c.parent",
      track("s.children") + track("s.parents", {{"column", "_parent"}}));
  EXPECT_EQ(changed_and_compared("update s.parents set name = 'new'"), "");
}

TEST_F(Ids, KeysThatJoinToTheSameTextDoNotCollide) {
  bring_up(
      "create table s.pairs (a text, b text, n integer not null, primary key (a, b)); "
      "insert into s.pairs values ('a-b', 'c', 1), ('a', 'b-c', 2), ('a\"', 'b', 3), ('a', '\"b', 4); "
      "create view s.docs as select json_build_array(a, b)::text as _id, a, b, n from s.pairs",
      track("s.pairs", {{"row", "json_build_array(a, b)::text"}}));
  EXPECT_EQ(pipeline_.index("docs").count(), 4);
  EXPECT_EQ(
      changed_and_compared("update s.pairs set n = n + 10; delete from s.pairs where a = 'a' and b = 'b-c'"),
      "");
  EXPECT_EQ(pipeline_.index("docs").count(), 3);
}

TEST_F(Ids, IntegerBigintAndUuidKeysAreFollowed) {
  database_.execute(
      "create table s.big (id bigint primary key, n integer); "
      "create view s.bigs as select id as _id, n from s.big; "
      "insert into s.big values (-9223372036854775808, 1), (9223372036854775807, 1), (0, 1), (-1, 1); "
      "create table s.u (id uuid primary key, n integer); "
      "insert into s.u select md5(i::text)::uuid, i from generate_series(1, 100) i; "
      "create view s.us as select id as _id, n from s.u");
  pipeline_.add_index("bigs", "s.bigs", track("s.big"));
  pipeline_.add_index("us", "s.us", track("s.u"));
  bring_up(
      "create table s.small (id smallint primary key, n integer); insert into s.small values (-5, 1), (5, "
      "1); "
      "create view s.docs as select id::integer as _id, n from s.small",
      track("s.small"));
  EXPECT_EQ(pipeline_.difference(), "");
  EXPECT_EQ(
      changed_and_compared(
          "update s.big set n = 2; delete from s.big where id = 0; update s.u set n = -n where n % 2 = 0; "
          "delete from s.u where n = 3; update s.small set n = 2; delete from s.small where id = -5"),
      "");
}

TEST_F(Ids, AnIdOf513BytesBecomesADeadLetterAndTheOthersGoOn) {
  bring_up(
      "create table s.keyed (key text primary key, n integer not null); "
      "insert into s.keyed values (repeat('x', 513), 1), (repeat('ü', 257), 1), ('short', 1); "
      "create view s.docs as select key as _id, n from s.keyed",
      track("s.keyed"));
  EXPECT_EQ(
      database_.number("select count(*) from lockstep.dead_letter where octet_length(id) in (513, 514)"), 2);
  EXPECT_TRUE(pipeline_.index("docs").get("short"));
  EXPECT_EQ(pipeline_.index("docs").count(), 1);
  database_.execute("insert into s.keyed values (repeat('y', 600), 1), ('other', 1)");
  pipeline_.catch_up();
  EXPECT_TRUE(pipeline_.index("docs").get("other"));
  EXPECT_EQ(database_.number("select count(*) from lockstep.dead_letter"), 3);
  database_.execute("delete from s.keyed where length(key) > 100");
  pipeline_.catch_up();
  EXPECT_EQ(database_.number("select count(*) from lockstep.dead_letter"), 0);
  EXPECT_EQ(pipeline_.difference(), "");
}

}  // namespace
}  // namespace lockstep::support
