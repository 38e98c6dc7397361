// From which tables a view's text leads to the row of the document, place by place.
#include "replicator/source/sqlite/catalog/view_links.h"

#include <gmock/gmock.h>

#include "replicator/source/sqlite/catalog/column_origin.h"
#include "replicator/source/view/view_paths.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class SqliteViewLinksTest : public testing::Test {
 protected:
  SqliteViewLinksTest() : application_(folder_.file("app.db")) {
    application_.execute(
        "create table users (id integer primary key, email text);"
        "create table posts (id integer primary key, author_id int references users, slug text);"
        "create table comments (id integer primary key, type text, post_id text, slug text, user_id int "
        "references users, body text)");
  }

  SqliteViewLinks links_of(const std::string& select) {
    application_.execute("drop view if exists documents; create view documents as " + select);
    connection_.emplace(sqlite_config(folder_.file("app.db"), {}).source);
    return read_view_links(*connection_, "documents");
  }
  std::set<std::string> unreached(const std::string& select) {
    return unreached_tables(links_of(select).graph);
  }

  ApplicationFolder folder_;
  Application application_;
  std::optional<SqliteConnection> connection_;
};

TEST_F(SqliteViewLinksTest, ACommentersRowIsNotTakenForTheAuthors) {
  const std::string view =
      "select p.id as _id, u.email, (select group_concat(c.body || cu.email) from comments c join users cu "
      "on cu.id = c.user_id where c.type = 'Post' and ";
  const std::string end = ") as comments from posts p join users u on u.id = p.author_id";
  for (const char* const condition :
       {"c.post_id = p.id", "post_id == \"p\".[id]", "(c.post_id = p.id and c.slug = p.slug)",
        "p.id in (select d.post_id from comments d where d.id = c.id)"})
    EXPECT_THAT(unreached(view + condition + end), IsEmpty()) << condition;
  for (const char* const condition :
       {"cast(p.id as text) = c.post_id", "lower(c.slug) = lower(p.slug)", "c.post_id = coalesce(p.id, 0)",
        "not c.post_id = p.id", "(c.post_id = p.id or c.body = '')", "c.post_id <= p.id", "c.post_id is p.id",
        "case when c.body = '' and c.post_id = p.id and 1 then 1 end", "c.slug = p.slug collate nocase"})
    EXPECT_THAT(unreached(view + condition + end), UnorderedElementsAre("comments", "users")) << condition;
}

TEST_F(SqliteViewLinksTest, EachUseOfAQueryIsAPlaceOfItsOwn) {
  const std::string with =
      "with n as (select post_id as of, count(*) as number from comments group by post_id) ";
  EXPECT_THAT(unreached(with + "select p.id as _id, n.number from posts p left join n on n.of = p.id"),
              IsEmpty());
  EXPECT_THAT(
      unreached(with + "select p.id as _id, n.number, (select max(number) from n) as most from posts p "
                       "left join n on n.of = p.id"),
      ElementsAre("comments"));
  EXPECT_THAT(
      unreached("select p.id as _id, n.number from posts p join (select post_id, count(*) number from "
                "comments group by post_id) n on p.id = n.post_id"),
      IsEmpty());
}

TEST_F(SqliteViewLinksTest, FollowsViewsUsingAndRecursion) {
  application_.execute(
      "create view remarks (post, text) as select post_id, body from comments;"
      "create table nodes (id integer primary key, parent_id int)");
  EXPECT_THAT(unreached("select p.id as _id, r.text from posts p join remarks r on r.post = p.id"),
              IsEmpty());
  EXPECT_THAT(
      links_of("select p.id as _id from posts p join comments using (slug)").graph.links.at(0).columns,
      ElementsAre("slug"));
  EXPECT_THAT(
      unreached("select n.id as _id, (with recursive up as (select id, parent_id from nodes s where s.id "
                "= n.id union all select m.id, m.parent_id from nodes m join up on up.parent_id = m.id) "
                "select count(*) from up) as depth from nodes n"),
      IsEmpty());
}

TEST_F(SqliteViewLinksTest, UnionsAreFollowedBranchByBranch) {
  const std::string both =
      "(select post_id, user_id from comments union select id, author_id from posts) as w ";
  EXPECT_THAT(unreached("select p.id as _id from posts p join " + both +
                        "on w.post_id = p.id join users u on "
                        "u.id = w.user_id"),
              IsEmpty());
  EXPECT_THAT(unreached("select p.id as _id from posts p join (select post_id, user_id from comments union "
                        "select 1, author_id from posts) as w on w.post_id = p.id"),
              UnorderedElementsAre("comments", "posts"))
      << "a column that one branch computes is not told";
  const ViewGraph graph = links_of("select id as _id from posts union all select id from users").graph;
  EXPECT_THAT(graph.documents, SizeIs(2));
  EXPECT_THAT(unreached_tables(graph), IsEmpty());
}

TEST_F(SqliteViewLinksTest, TheConditionOfAnOuterJoinDoesNotTakeRowsOfItsOwnSide) {
  EXPECT_THAT(
      unreached("select p.id as _id from posts p, users u left join comments c on u.id = p.author_id"),
      UnorderedElementsAre("comments", "users"));
  EXPECT_THAT(unreached("select p.id as _id from posts p left join comments c on c.post_id = p.id"),
              IsEmpty());
}

TEST_F(SqliteViewLinksTest, RowsOfSeveralSelectsHaveNoOrigin) {
  application_.execute("create view both as select slug as id from posts union all select id from users");
  const auto origin = [&](const std::string& select) {
    links_of(select);
    return column_origin(*connection_, "documents", "_id");
  };
  EXPECT_TRUE(origin("select p.id as _id, (select 1 union select 2) from posts p"))
      << "a union that gives one column";
  for (const char* const select :
       {"select 'post-' || id as _id from posts union all select id from users",
        "select b.id as _id from (select slug as id from posts union select id from users) as b",
        "with b as (select slug as id from posts union select id from users) select b.id as _id from b",
        "select id as _id from both"})
    EXPECT_FALSE(origin(select)) << "SQLite names the last of them\n" << select;
  EXPECT_TRUE(links_of("with recursive b(n) as (select 1 union select n + 1 from b where n < 3) select n as "
                       "_id from b")
                  .recursive);
}

}  // namespace
}  // namespace lockstep
