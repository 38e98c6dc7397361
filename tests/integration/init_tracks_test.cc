// The tracks that `init` writes follow the view's own joins: where each table has the tenant's number, one
// comment renders its task. Random statements leave no document different, and few are rendered for nothing.
#include "tests/integration/init_fixture.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kRounds = 3;
// Documents rendered for each that changed. What an `exists` or a `limit` shows often stays as it was.
constexpr double kMostRendered = 1.2, kMostRenderedOfAny = 1.5;

class TenantsInit : public InitFixture {
 protected:
  TenantsInit() : InitFixture("tenants_schema.sql", {}) {}

  std::int64_t written() const {
    index_.server().expect("POST", "/" + index_.alias() + "/_refresh");
    const auto stats = index_.server().expect("GET", "/" + index_.alias() + "/_stats/indexing");
    const auto& indexing = stats.at("_all").at("primaries").at("indexing");
    return indexing.at("index_total").get<std::int64_t>() + indexing.at("delete_total").get<std::int64_t>();
  }

  // Runs each statement alone, and compares what is written with what has become another document.
  void expect_that_little_is_rendered_for_nothing(const std::vector<std::string>& statements,
                                                  double most = kMostRendered) {
    must("up", {"--until-caught-up"});
    std::mt19937 random(random_seed());
    std::int64_t rendered = 0, changed = 0;
    std::string each;
    for (int round = 0; round < kRounds; ++round) {
      for (const std::string& statement : statements) {
        std::uniform_int_distribution<int> number(1, 300);
        const std::string sql = filled(filled(statement, "{n}", number(random)), "{m}", number(random));
        database_.execute(
            "drop table if exists before; create table before as select v._id, md5(v::text) as hash from " +
            view_ + " as v");
        database_.execute(sql);
        const std::int64_t first = written();
        must("run", {"--until-caught-up"});
        const std::int64_t some = written() - first;
        const std::int64_t others = database_.number(
            "select count(*) from before full join (select v._id, md5(v::text) as hash from " + view_ +
            " as v) as n using (_id) where before.hash is distinct from n.hash");
        rendered += some;
        changed += others;
        each += std::to_string(some) + " of " + std::to_string(others) + ": " + sql + "\n";
      }
    }
    EXPECT_GT(changed, 0);
    EXPECT_LE(static_cast<double>(rendered), most * static_cast<double>(changed)) << each;
    RecordProperty("rendered", std::to_string(rendered));
    RecordProperty("changed", std::to_string(changed));
    std::cout << view_ << ": " << rendered << " rendered, " << changed << " changed\n";
    must("verify");
  }
};

TEST_F(TenantsInit, OneCommentRendersItsTaskAndNotTheTenant) {
  draft("search.tasks", {"--view", "search.tasks"});
  EXPECT_THAT(text(".toml"), Not(HasSubstr("Not known")));
  EXPECT_THAT(text(".toml"),
              HasSubstr("# app.comments → app.tasks\n[[index.track]]\ntable = \"app.comments\"\n"
                        "row = \"task_id\"\n"));
  EXPECT_THAT(text(".toml"), Not(HasSubstr("app.people → app.orgs")));
  database_.run(file(".sql"));
  expect_that_little_is_rendered_for_nothing({
      "update app.comments set body = 'changed {m}' where id = {n}",
      "update app.comments set task_id = {m} where id = {n}",
      "delete from app.comments where id = {n}",
      "insert into app.comments select max(id) + 1, 1, {n}, {m}, 'new' from app.comments",
      "update app.attachments set name = 'changed {m}' where id = {n}",
      "update app.attachments set task_id = {m}, org_id = {m} % 3 + 1 where id = {n}",
      "update app.people set name = 'changed {m}' where id = {n}",
      "update app.projects set name = 'changed {m}' where id = {n} % 120 + 1",
      "update app.projects set lead_id = {m} where id = {n} % 120 + 1",
      "update app.tasks set title = 'changed {m}' where id = {n}",
      "update app.tasks set project_id = {m} % 120 + 1 where id = {n}",
      "update app.tasks set assignee_id = nullif({m} % 100 * 3 + {n} % 3, 0) where id = {n}",
      "delete from app.tasks where id = {n}",
      "insert into app.tasks select max(id) + 1, {n} % 3 + 1, {m} % 120 + 1, null, 'new' from app.tasks",
      "update app.orgs set name = 'changed {m}' where id = {n} % 3 + 1",
  });
}

TEST_F(TenantsInit, AVoteRendersItsPostAndNotTheCommunity) {
  draft("search.posts", {"--view", "search.posts"});
  EXPECT_THAT(text(".toml"), HasSubstr("# app.post_aggregates → app.posts\n[[index.track]]\n"
                                       "table = \"app.post_aggregates\"\n"));
  EXPECT_THAT(text(".toml"), Not(HasSubstr("app.post_aggregates → app.communities")));
  expect_that_little_is_rendered_for_nothing({
      "update app.post_aggregates set comments = comments + 1 where post_id = {n}",
      "update app.post_aggregates set community_id = {m} % 20 + 1 where post_id = {n}",
      "insert into app.post_likes values ({n}, {m}, 1) on conflict do nothing",
      "update app.post_likes set score = score - 1 where post_id = {n}",
      "delete from app.post_likes where post_id = {n}",
      "update app.posts set name = 'changed {m}' where id = {n}",
      "update app.posts set community_id = {m} % 20 + 1, creator_id = {m} where id = {n}",
      "delete from app.posts where id = {n}",
      "update app.communities set title = 'changed {m}' where id = {n} % 20 + 1",
      "update app.people set name = 'changed {m}' where id = {n}",
  });
}

TEST_F(TenantsInit, UnionsExistsLateralAndNestedViewsAreFollowedWithAndWithoutForeignKeys) {
  draft("search.everything", {"--view", "search.everything"});
  EXPECT_THAT(text(".toml"), HasSubstr("table = \"app.notes\"\nrow = \"number\"\n"));
  database_.run(file(".sql"));
  expect_that_little_is_rendered_for_nothing(
      {
          "update app.notes set text = 'changed {m}' where number = {n} and about = 'task'",
          "update app.notes set number = {m} where id = {n} and about = 'task'",
          "update app.people set name = 'changed {m}' where id = {n}",
          "insert into app.comments select max(id) + 1, 1, {n}, {m}, 'new' from app.comments",
          "update app.comments set body = 'changed {m}' where id in (select max(id) from app.comments group "
          "by "
          "task_id) "
          "and task_id = {n}",
          "update app.comments set author_id = {m} where id = {n}",
          "delete from app.comments where id = {n}",
          "delete from app.attachments where task_id = {n}",
          "update app.attachments set task_id = {m} where id = {n}",
          "update app.tasks set title = 'changed {m}' where id = {n}",
          "update app.tasks set assignee_id = nullif({m}, 300) where id = {n}",
          "delete from app.tasks where id = {n}",
      },
      kMostRenderedOfAny);
}

class EverythingInit : public InitFixture {
 protected:
  EverythingInit()
      : InitFixture("tenants_schema.sql",
                    {
                        "update app.tasks set id = {n} + 700 where id = {n}",
                        "update app.tasks set assignee_id = {m} where id = {n}",
                        "update app.tasks set org_id = {m} % 3 + 1 where id = {n}",
                        "delete from app.tasks where id = {n} and {m} = 1",
                        "update app.comments set task_id = {m}, author_id = {n} where id = {n}",
                        "delete from app.comments where id = {n} and {m} < 3",
                        "update app.attachments set task_id = {m}, uploader_id = {m} where id = {n}",
                        "update app.attachments set org_id = {m} % 3 + 1 where id = {n}",
                        "update app.people set name = 'changed {m}', org_id = {m} % 3 + 1 where id = {n}",
                        "update app.projects set lead_id = {m}, org_id = {n} % 3 + 1 where id = {n}",
                        "update app.notes set number = {m}, about = 'task' where id = {n}",
                        "update app.orgs set name = 'changed {m}' where id = {n} % 3 + 1",
                    }) {}
};

// Many at once, so that rows on one way change together.
TEST_F(EverythingInit, RowsThatChangeTogetherLoseNoDocument) {
  draft("search.tasks", {"--view", "search.tasks"});
  expect_that_no_change_is_missed(8);
}

TEST_F(EverythingInit, RowsOfUnionsThatChangeTogetherLoseNoDocument) {
  draft("search.everything", {"--view", "search.everything"});
  expect_that_no_change_is_missed(8);
}

// As files have it that an `init` from before wrote, along foreign keys.
TEST_F(EverythingInit, CheckNamesATrackThatNoJoinNeedsAndAWayThatNoTrackFollows) {
  draft("search.tasks", {"--view", "search.tasks"});
  std::ofstream(file(".toml"), std::ios::app)
      << "\n[[index.track]]\ntable = \"app.comments\"\nrow = \"org_id\"\n"
         "keys = \"select id from app.tasks where org_id = any($1)\"\n";
  const Completed checked = lockstep("check");
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
  EXPECT_THAT(checked.out,
              HasSubstr("view search.tasks joins no row of app.comments by org_id: the track renders "
                        "documents for nothing"));
  std::string one_way = text(".toml");
  one_way.replace(one_way.find("row = \"task_id\""), 15, "row = \"org_id\"");
  std::ofstream(file(".toml")) << one_way;
  const Completed missing = lockstep("check");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.out, HasSubstr("view search.tasks comes to rows of app.attachments by app.tasks.id, "
                                     "app.tasks.org_id, and no track of app.attachments follows"));
}

}  // namespace
}  // namespace lockstep::support
