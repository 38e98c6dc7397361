// What the text of a view says is equal, how often it names a table, and where its rows come from.
#include "replicator/source/sqlite/catalog/view_joins.h"

#include <gmock/gmock.h>

#include "replicator/source/sqlite/catalog/column_origin.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class SqliteViewJoinsTest : public testing::Test {
 protected:
  SqliteViewJoinsTest() : application_(folder_.file("app.db")) {
    application_.execute(
        "create table films (id integer primary key, title text, language_id int, \"Sequel Of\" int);"
        "create table languages (id integer primary key, name text);"
        "create table actors (film_id int, name text); create table notes (film_id int, text)");
  }

  SqliteViewJoins joins_of(const std::string& select) {
    application_.execute("drop view if exists documents; create view documents (_id, x) as " + select);
    connection_.emplace(sqlite_config(folder_.file("app.db"), {}).source);
    return read_view_joins(*connection_, "documents");
  }

  // "films.language_id = languages.id"
  static std::vector<std::string> texts(const SqliteViewJoins& joins) {
    std::vector<std::string> texts;
    for (const SqliteJoin& join : joins.equal)
      texts.push_back(join.table + "." + join.column + " = " + join.other + "." + join.other_column);
    return texts;
  }

  ApplicationFolder folder_;
  Application application_;
  std::optional<SqliteConnection> connection_;
};

TEST_F(SqliteViewJoinsTest, FollowsAliasesInEveryPartOfTheView) {
  const SqliteViewJoins joins = joins_of(
      "select f.id, (select group_concat(a.name) from actors a where a.film_id = f.id) /* = */ from films as "
      "f "
      "left join languages l on l.id == f.language_id where exists (select 1 from main.notes where "
      "notes.film_id is f.id) -- and so on");
  EXPECT_THAT(texts(joins),
              UnorderedElementsAre("actors.film_id = films.id", "languages.id = films.language_id",
                                   "notes.film_id = films.id"));
  EXPECT_THAT(joins.together, Contains(Pair("films", 1)));
  EXPECT_FALSE(joins.is_compound);
  EXPECT_FALSE(joins.recursive);
}

TEST_F(SqliteViewJoinsTest, TakesQuotedNamesUsingNaturalAndCommas) {
  EXPECT_THAT(texts(joins_of("select f.id, 1 from films f, films as \"the first\" where f.\"Sequel Of\" = "
                             "\"the first\".id")),
              Contains("films.Sequel Of = films.id"));
  EXPECT_THAT(texts(joins_of("select film_id, 1 from actors join notes using (film_id)")),
              ElementsAre("actors.film_id = notes.film_id"));
  EXPECT_THAT(texts(joins_of("select film_id, 1 from (actors natural join notes)")),
              ElementsAre("actors.film_id = notes.film_id"));
}

TEST_F(SqliteViewJoinsTest, ComparisonsOfSomethingElseAreNoEquality) {
  for (const char* const condition :
       {"a.film_id <= f.id", "a.film_id != f.id", "a.film_id = f.id + 1", "1 + a.film_id = f.id",
        "a.film_id = abs(f.id)", "a.name = f.title collate nocase", "a.film_id = 7", "a.film_id is not f.id"})
    EXPECT_THAT(texts(joins_of(std::string("select f.id, 1 from films f join actors a on ") + condition)),
                IsEmpty())
        << condition;
}

TEST_F(SqliteViewJoinsTest, CountsTheSubqueryThatNamesATableMostOften) {
  const SqliteViewJoins joins = joins_of(
      "select f.id, (select name from languages where id = f.language_id) || (select count(*) from "
      "languages a, languages b where a.id = f.id) from films f");
  EXPECT_EQ(joins.entries.at("languages"), 3);
  EXPECT_EQ(joins.together.at("languages"), 2);
}

TEST_F(SqliteViewJoinsTest, FollowsTheViewsBelow) {
  application_.execute(
      "create view spoken as select f.id, l.name from films f join languages l on l.id = f.language_id");
  const SqliteViewJoins joins = joins_of("select s.id, t.name from spoken s, spoken t where t.id = s.id");
  EXPECT_THAT(texts(joins), Contains("languages.id = films.language_id"));
  EXPECT_EQ(joins.together.at("films"), 2);
  EXPECT_FALSE(joins.together.contains("spoken"));
}

TEST_F(SqliteViewJoinsTest, RowsOfSeveralSelectsHaveNoOrigin) {
  const auto origin = [&] { return column_origin(*connection_, "documents", "_id"); };
  joins_of("select f.id, (select 1 union select 2) from films f");
  ASSERT_TRUE(origin()) << "a union that gives one column";
  EXPECT_EQ(origin()->table, "films");
  EXPECT_EQ(origin()->column, "id");
  application_.execute(
      "create view both as select title as id from films union all select id from languages");
  for (const char* const select :
       {"select 'film-' || id, 1 from films union all select id, 2 from languages",
        "select b.id, 1 from (select title as id from films union select id from languages) as b",
        "with b as (select title as id from films union select id from languages) select b.id, 1 from b",
        "select id, 1 from both"}) {
    EXPECT_TRUE(joins_of(select).is_compound) << select;
    EXPECT_FALSE(origin()) << "SQLite names the last of them\n" << select;
  }
  EXPECT_TRUE(
      joins_of("with recursive b(n) as (select 1 union select n + 1 from b where n < 3) select n, 1 from b")
          .recursive);
}

}  // namespace
}  // namespace lockstep
