// Promise 4: a change of many documents is replayed beside the tail, and neither it nor the small changes
// that overtake it are lost.
#include <gtest/gtest.h>

#include "tests/integration/many_posts_test.h"

namespace lockstep::support {
namespace {

class FanOut : public ManyPostsTest {
 protected:
  static std::string document_of(const std::string& title, const std::string& author) {
    return R"({"title":")" + title + R"(","body":null,"author":")" + author + R"(","comments":null})";
  }
};

TEST_F(FanOut, SmallChangesOvertakeALargeOne) {
  follow();
  slow_down_large_bulks();
  execute("update blog.authors set name = 'renamed' where id = 1");
  ASSERT_TRUE(
      wait_until([&] { return database_.number("select count(*) from lockstep.due") > 0; }, kPatience));
  execute("insert into blog.posts (id, author_id, title) values (100, 2, 'small')");
  EXPECT_TRUE(appears("100"));
  // One of the many themselves: its own change doesn't wait for its page.
  execute("update blog.posts set title = 'overtaking' where id = 8999");
  EXPECT_TRUE(becomes("8999", document_of("overtaking", "renamed")));
  EXPECT_GT(database_.number("select count(*) from lockstep.due"), 0)
      << "the large change was over too soon to tell";
  proxy_.disturb({});
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(proxy_.history().overlaps().empty()) << proxy_.history().overlaps().front();
}

TEST_F(FanOut, ALargeChangeSurvivesKills) {
  follow();
  slow_down_large_bulks();
  execute("update blog.authors set name = 'renamed' where id = 1");
  ASSERT_TRUE(
      wait_until([&] { return database_.number("select count(*) from lockstep.due") > 0; }, kPatience));
  for (int i = 0; i < 3; ++i) {
    const auto before = proxy_.history().requests();
    ASSERT_TRUE(wait_until([&] { return proxy_.history().requests() >= before + 3; }, kPatience));
    restart();
    execute("update blog.posts set title = title || '!' where id = " + std::to_string(2000 + i));
  }
  proxy_.disturb({});
  EXPECT_TRUE(becomes_equal());
  pipeline_.set_more("");
  EXPECT_EQ(document("8000"), document_of("post 8000", "renamed"));
}

// Each time the leader gave the lead away.
TEST_F(FanOut, AJobWhoseConnectionIsEndedGoesOnUnderTheSameLead) {
  follow();
  slow_down_large_bulks();
  const auto epoch = [&] { return database_.number("select max(epoch) from lockstep.checkpoint"); };
  const std::int64_t before = epoch();
  execute("update blog.authors set name = 'renamed' where id = 1");
  const auto end_connection = [&] {
    return database_.number(
               "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = "
               "current_database() and application_name like '%pages of jobs'") > 0;
  };
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(wait_until(end_connection, kPatience));
  execute("insert into blog.posts (id, author_id, title) values (100, 2, 'small')");
  EXPECT_TRUE(appears("100"));
  proxy_.disturb({});
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(epoch(), before);
}

TEST_F(FanOut, DocumentsDeletedWhileALargeChangeIsReplayedStayDeleted) {
  follow();
  slow_down_large_bulks();
  execute("update blog.authors set name = 'renamed' where id = 1");
  ASSERT_TRUE(
      wait_until([&] { return database_.number("select count(*) from lockstep.due") > 0; }, kPatience));
  execute("delete from blog.posts where id between 1001 and 9000 and id % 10 = 0");
  execute("update blog.authors set name = 'renamed again' where id = 1");
  proxy_.disturb({});
  EXPECT_TRUE(becomes_equal());
  EXPECT_FALSE(posts_.get("9000"));
}

TEST_F(FanOut, ARowThatChangesAgainAndAgainMakesItsDocumentsDueTwiceAtMost) {
  follow();
  slow_down_large_bulks();
  const std::int64_t documents = database_.number("select count(*) from blog.posts where author_id = 1");
  std::int64_t most_due = 0;
  for (int i = 1; i <= 10; ++i) {
    const auto before = proxy_.history().requests();
    execute("update blog.authors set name = 'name " + std::to_string(i) + "' where id = 1");
    ASSERT_TRUE(wait_until([&] { return proxy_.history().requests() > before; }, kPatience));
    most_due = std::max(most_due, database_.number("select coalesce(sum(documents), 0) from lockstep.due"));
  }
  proxy_.disturb({});
  EXPECT_TRUE(becomes_equal());
  EXPECT_GT(most_due, 0);
  EXPECT_LE(most_due, 2 * documents);
}

TEST_F(FanOut, ALargeStatementOnTheDocumentsThemselvesArrivesWhole) {
  bring_up();
  execute("update blog.posts set title = title || ' (changed)'");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  execute("delete from blog.posts where id > 1500");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  EXPECT_EQ(posts_.count(), database_.number("select count(*) from search.posts"));
}

TEST_F(FanOut, ATruncatedTableChangesEveryDocument) {
  follow();
  execute("truncate blog.comments");
  EXPECT_TRUE(becomes_equal());
  execute("truncate blog.posts cascade");
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(posts_.count(), 0);
}

}  // namespace
}  // namespace lockstep::support
