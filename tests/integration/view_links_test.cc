// A view that reads a table in several places comes to its rows by several ways: `init` names the place that
// none is known from, and `check` counts the tracks that follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/source/open_source.h"
#include "replicator/source/postgres/define/design.h"
#include "replicator/source/view/view_paths.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kBlog = R"sql(
create schema s;
create table s.users (id int primary key, email text);
create table s.posts (id bigint primary key, author_id int references s.users, slug text);
create table s.comments (id int primary key, type text, text_id varchar, post_id int, slug varchar,
                         user_id int references s.users, body text);
)sql";

class ViewLinksTest : public ::testing::Test {
 protected:
  ViewLinksTest() : defined_(kBlog) {}

  std::set<std::string> unreached(const std::string& select) {
    defined_.database().execute("create or replace view s.v as " + select);
    return unreached_tables(open_schema_reader(defined_.config().source)->view("s.v").graph);
  }

  DefinedDatabase defined_;
};

TEST_F(ViewLinksTest, ACommentersRowIsNotTakenForTheAuthors) {
  const std::string view =
      "select p.id as _id, u.email, (select json_agg(c.body || cu.email) from s.comments c join s.users cu "
      "on "
      "cu.id = c.user_id where c.type = 'Post' and ";
  const std::string end = ") as comments from s.posts p join s.users u on u.id = p.author_id";
  for (const char* const condition :
       {"c.post_id = p.id", "c.slug = p.slug", "p.id in (c.post_id)", "(c.post_id, c.type) = (p.id, 'Post')",
        "(c.post_id = p.id or c.slug = p.slug)",
        "p.id in (select d.post_id from s.comments d where d.id = c.id)"})
    EXPECT_THAT(unreached(view + condition + end), IsEmpty()) << condition;
  for (const char* const condition :
       {"c.text_id = p.id::text", "c.text_id::bigint = p.id", "c.post_id is not distinct from p.id",
        "c.post_id = coalesce(p.id, 0)", "lower(c.slug) = lower(p.slug)", "p.id = any(array[c.post_id])",
        "(c.post_id = p.id or c.body = '')", "not c.post_id = p.id",
        "c.post_id >= p.id and c.post_id <= p.id", "case when c.post_id = p.id then true end",
        "c.post_id <> all (select p.id)"})
    EXPECT_THAT(unreached(view + condition + end), UnorderedElementsAre("s.comments", "s.users"))
        << condition;
}

TEST_F(ViewLinksTest, FollowsSubqueriesViewsFunctionsAndRecursion) {
  defined_.database().execute(
      "create view s.numbers as select post_id as of, count(*) as number from s.comments group by post_id;"
      "create function s.email(int) returns text stable begin atomic select email from s.users where id = "
      "$1; end;"
      "create table s.nodes (id int primary key, parent_id int)");
  for (const char* const select : {"select p.id as _id, n.number, s.email(p.author_id) from s.posts p left "
                                   "join s.numbers n on n.of = p.id",
                                   "select p.id::text as _id, (select max(n.number) from (select * from "
                                   "s.numbers) n where n.of = p.id) as "
                                   "number, null from s.posts p"}) {
    defined_.database().execute("drop view if exists s.v");
    EXPECT_THAT(unreached(select), IsEmpty()) << select;
  }
  for (const auto& [select, table] : std::vector<std::pair<std::string, std::string>>{
           {"select p.id as _id, s.email(p.author_id + 1) from s.posts p", "s.users"},
           {"select p.id as _id, (select max(number) from s.numbers) from s.posts p", "s.comments"},
           {"with n as (select * from s.numbers) select p.id as _id, n.number, (select max(number) from n) "
            "as most "
            "from s.posts p join n on n.of = p.id",
            "s.comments"},
           {"select p.id as _id from s.posts p left join s.comments c on p.author_id = p.id", "s.comments"},
           {"select p.id as _id, (select count(*) from s.comments c where c.post_id = p.id and u.id = "
            "p.author_id) from s.posts p, s.users u",
            "s.users"}}) {
    defined_.database().execute("drop view if exists s.v");
    EXPECT_THAT(unreached(select), ElementsAre(table)) << select;
  }
  defined_.database().execute("drop view s.v");
  EXPECT_THAT(
      unreached("select n.id as _id, (with recursive up as (select id, parent_id from s.nodes o where "
                "o.id = n.id union all select m.id, m.parent_id from s.nodes m join up on up.parent_id = "
                "m.id) select count(*) from up) as depth from s.nodes n"),
      IsEmpty());
}

TEST_F(ViewLinksTest, TheGraphOfAParsedViewHasPlacesLinksBranchesAndKeys) {
  defined_.database().execute(
      "create view s.writers as select id as post_id, author_id as user_id from s.posts union select "
      "post_id, "
      "user_id from s.comments;"
      "create view s.v as select p.id::text as _id, u.email from s.posts p join s.writers w on w.post_id = "
      "p.id "
      "left join lateral (select * from s.users x where x.id = w.user_id) u on true where exists (select "
      "from "
      "s.comments c where p.slug in (c.slug, c.body))");
  const ViewGraph graph = open_schema_reader(defined_.config().source)->view("s.v").graph;
  std::vector<std::string> places;
  for (const ViewGraph::Place& place : graph.places) {
    places.push_back(place.table);
    for (const auto& [number, branch] : place.branches) places.back() += " " + std::to_string(branch);
  }
  EXPECT_THAT(places, ElementsAre("s.posts", "s.posts 0", "s.comments 1", "s.users", "s.comments"));
  std::vector<std::string> links;
  for (const ViewGraph::Link& link : graph.links)
    links.push_back(std::to_string(link.place) + "." + link.columns.at(0) + " = " +
                    std::to_string(link.other) + "." + link.other_columns.at(0));
  EXPECT_THAT(links, UnorderedElementsAre("0.id = 1.id", "0.id = 2.post_id", "1.author_id = 3.id",
                                          "2.user_id = 3.id", "0.slug = 4.slug", "0.slug = 4.body"));
  EXPECT_THAT(graph.documents, ElementsAre(::testing::Pair(0, "id")));
  EXPECT_THAT(graph.keys.at("s.users"), ElementsAre(ElementsAre("id")));
  EXPECT_THAT(graph.peers, IsEmpty());
}

TEST_F(ViewLinksTest, CheckNamesTheWayThatNoTrackFollows) {
  defined_.database().execute(
      "create view s.v as select p.id as _id, p.author_id as _author_id, u.email, (select count(*) from "
      "s.users o "
      "where lower(o.email) = lower(u.email)) as namesakes from s.posts p join s.users u on u.id = "
      "p.author_id");
  defined_.add_index("s.v", {track("s.posts"), track_by_column("s.users", "_author_id")});
  PostgresSession session(defined_.config().source, "test");
  PostgresTransaction transaction(session, "designing");
  const PipelineDesign design = design_pipeline(transaction, defined_.config(), defined_.config().indices);
  ASSERT_EQ(design.findings.size(), 1U);
  EXPECT_THAT(design.findings[0].message, HasSubstr("comes to rows of s.users by s.posts.author_id and "
                                                    "something else than an equality of two columns"));
}

}  // namespace
}  // namespace lockstep
