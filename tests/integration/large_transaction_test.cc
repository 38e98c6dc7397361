// Promise 4: a transaction of many changes, whatever it is made of, steps aside; small changes before and
// after it do not wait for it, and neither is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/config/config.h"
#include "replicator/source/open_source.h"
#include "tests/integration/many_posts_test.h"

namespace lockstep::support {
namespace {

constexpr const char* kOneStatement = "update blog.posts set title = title || '!' where id > 1000";
constexpr const char* kManyStatements =
    "do $$ begin for i in 1001 .. 9000 loop "
    "update blog.posts set title = title || '!' where id = i; end loop; end $$";

class LargeTransaction : public ManyPostsTest {
 protected:
  std::int64_t due() { return database_.number("select count(*) from lockstep.due"); }

  void overtake(const std::string& large) {
    follow();
    slow_down_large_bulks();
    execute("insert into blog.posts (id, author_id, title) values (99, 2, 'before')");
    execute(large);
    execute("insert into blog.posts (id, author_id, title) values (100, 2, 'after')");
    execute("update blog.posts set title = 'overtaking' where id = 8999");
    EXPECT_TRUE(appears("99"));
    EXPECT_TRUE(appears("100"));
    EXPECT_TRUE(becomes("8999", document_of("overtaking")));
    EXPECT_GT(due(), 0) << "the large transaction was over too soon to tell";
    EXPECT_EQ(document("8998"), document_of("post 8998")) << "it is not applied yet";
    proxy_.disturb({});
    EXPECT_TRUE(becomes_equal());
    EXPECT_EQ(document("8999"), document_of("overtaking"));
    EXPECT_TRUE(proxy_.history().overlaps().empty()) << proxy_.history().overlaps().front();
  }

  void survive_kills(const std::string& large) {
    follow();
    slow_down_large_bulks();
    execute(large);
    for (int i = 0; i < 4; ++i) {
      const auto before = proxy_.history().requests();
      ASSERT_TRUE(wait_until([&] { return proxy_.history().requests() >= before + 2 * i; }, kPatience));
      restart();
      execute("update blog.posts set title = title || '?' where id = " + std::to_string(2000 + i));
    }
    proxy_.disturb({});
    EXPECT_TRUE(becomes_equal());
    EXPECT_TRUE(wait_until([&] { return due() == 0; }, kPatience));
    EXPECT_EQ(document("8000"), document_of("post 8000!"));
  }

  static std::string document_of(const std::string& title) {
    return R"({"title":")" + title + R"(","body":null,"author":"author 1","comments":null})";
  }
};

TEST_F(LargeTransaction, SmallChangesDoNotWaitForAStatementOverManyRows) {
  overtake(kOneStatement);
}

TEST_F(LargeTransaction, SmallChangesDoNotWaitForATransactionOfManyStatements) {
  overtake(kManyStatements);
}

TEST_F(LargeTransaction, SmallChangesDoNotWaitForATransactionThatWasOpenForLong) {
  follow();
  slow_down_large_bulks();
  const auto connection = database_.connect();
  pqxx::work late(*connection);
  late.exec(kManyStatements);
  execute("insert into blog.posts (id, author_id, title) values (99, 2, 'before')");
  EXPECT_TRUE(appears("99"));
  late.commit();
  execute("insert into blog.posts (id, author_id, title) values (100, 2, 'after')");
  EXPECT_TRUE(appears("100"));
  EXPECT_GT(due(), 0) << "the large transaction was over too soon to tell";
  proxy_.disturb({});
  EXPECT_TRUE(becomes_equal());
}

TEST_F(LargeTransaction, AStatementOverManyRowsSurvivesKills) {
  survive_kills(kOneStatement);
}

TEST_F(LargeTransaction, ATransactionOfManyStatementsSurvivesKills) {
  survive_kills(kManyStatements);
}

TEST_F(LargeTransaction, DocumentsThatItDeletesAreDeletedAndThoseThatItMovesOutToo) {
  follow();
  execute(
      "begin; delete from blog.posts where id between 1001 and 5000; "
      "update blog.posts set visible = false where id between 5001 and 7000; "
      "update blog.posts set id = id + 100000 where id > 7000; commit");
  EXPECT_TRUE(becomes_equal());
  EXPECT_FALSE(posts_.get("1001"));
  EXPECT_FALSE(posts_.get("5001"));
  EXPECT_FALSE(posts_.get("8000"));
  EXPECT_TRUE(posts_.get("108000"));
}

TEST_F(LargeTransaction, RowsThatLeadToOtherDocumentsStepAsideToo) {
  execute("insert into blog.comments select i, i, 'comment ' || i from generate_series(1001, 9000) i");
  follow();
  execute("update blog.comments set text = text || '!' where id > 1000");
  EXPECT_TRUE(becomes_equal());
  execute("begin; delete from blog.comments where id > 1000; truncate blog.comments; commit");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(LargeTransaction, OneThatIsRolledBackIsNone) {
  follow();
  execute("begin; " + std::string(kOneStatement) + "; rollback");
  execute("begin; savepoint s; " + std::string(kOneStatement) +
          "; rollback to savepoint s; update blog.posts set title = 'kept' where id = 1001; commit");
  EXPECT_TRUE(becomes("1001", document_of("kept")));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(LargeTransaction, WaitReturnsWhenItIsThereAndNotBefore) {
  follow();
  slow_down_large_bulks();
  execute(kOneStatement);
  const Completed early = pipeline_.lockstep("wait", {"--timeout", "1s"});
  EXPECT_NE(early.exit_code, 0);
  EXPECT_THAT(early.err, testing::HasSubstr("are due")) << early.err;
  proxy_.disturb({});
  pipeline_.must("wait");
  EXPECT_TRUE(is_equal());
}

TEST_F(LargeTransaction, TheOutboxIsPrunedWhileItIsReplayed) {
  follow();
  proxy_.hold_bulks();
  execute(kManyStatements);
  const char* const in_outbox = "select count(*) from lockstep.due where ids is null";
  ASSERT_TRUE(wait_until([&] { return due() > 0 && database_.number(in_outbox) == 0; }, kPatience));
  execute(
      "update lockstep.outbox set slot = (slot + 2) % 3 where slot = extract(epoch from now())::bigint / 600 "
      "% 3");
  const auto source = open_source(load_config(pipeline_.configuration()), "test");
  EXPECT_TRUE(wait_until(
      [&] {
        source->outbox().prune();
        return outbox_rows() == 0;
      },
      kPatience))
      << outbox_rows() << " rows are left";
  EXPECT_GT(due(), 0);
  proxy_.release_bulks();
  EXPECT_TRUE(becomes_equal());
}

// The tail asked for all documents of a change before it knew that they were too many.
TEST_F(LargeTransaction, SmallChangesDoNotWaitUntilTheDocumentsOfALargeOneAreFound) {
  execute(
      "create function blog.found_slowly(id integer) returns boolean language plpgsql as $$ begin "
      "perform pg_sleep(0.002); return true; end $$");
  pipeline_.set_tracks("posts",
                       track("blog.posts") + track("blog.comments", {{"row", "post_id"}}) +
                           track("blog.authors", {{"keys",
                                                   "select id from blog.posts where author_id = any($1) "
                                                   "and blog.found_slowly(id)"}}));
  follow();
  execute("update blog.authors set name = 'renamed' where id = 1");
  const auto begin = std::chrono::steady_clock::now();
  execute("update blog.posts set title = 'small' where id = 2");
  ASSERT_TRUE(wait_until([&] { return document("2").find("small") != std::string::npos; }, kPatience));
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took, 8s) << "finding the documents of the author takes 16 s";
  EXPECT_EQ(document("8000"), document_of("post 8000")) << "it is not applied yet";
  EXPECT_TRUE(becomes_equal());
}

}  // namespace
}  // namespace lockstep::support
