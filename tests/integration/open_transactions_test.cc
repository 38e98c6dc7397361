// Transactions commit in another order than they wrote in, stay open for long, or never commit: nothing of
// that may lose a change, delay somebody else's, or show what was rolled back.
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class OpenTransactions : public BlogTest {
 protected:
  // Another session with a transaction that has written already.
  std::unique_ptr<pqxx::connection> open(const std::string& sql) {
    auto connection = database_.connect();
    support::execute(*connection, "begin; " + sql);
    return connection;
  }
};

TEST_F(OpenTransactions, ATransactionLeftOpenDelaysNobodyElsesChanges) {
  bring_up();
  const auto open_one = open("insert into blog.posts (id, author_id, title) values (100, 1, 'late')");
  restart();
  const auto open_two = open("update blog.authors set name = 'renamed' where id = 2");
  for (int i = 101; i <= 130; ++i) {
    execute("insert into blog.posts (id, author_id, title) values (" + std::to_string(i) + ", 1, 'early')");
    ASSERT_TRUE(appears(std::to_string(i)));
  }
  EXPECT_FALSE(posts_.get("100"));
  support::execute(*open_one, "commit");
  EXPECT_TRUE(appears("100"));
  support::execute(*open_two, "commit");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(OpenTransactions, ALateCommitIsNotLostAcrossRestarts) {
  bring_up();
  const auto late = open("insert into blog.posts (id, author_id, title) values (100, 1, 'late')");
  execute("insert into blog.posts (id, author_id, title) values (101, 1, 'early')");
  pipeline_.catch_up();
  EXPECT_TRUE(posts_.get("101"));
  execute("insert into blog.posts (id, author_id, title) values (102, 1, 'early')");
  pipeline_.catch_up();
  EXPECT_FALSE(posts_.get("100"));
  support::execute(*late, "commit");
  pipeline_.catch_up();
  EXPECT_TRUE(posts_.get("100"));
  EXPECT_TRUE(is_equal());
}

TEST_F(OpenTransactions, ALateCommitOfManyStatementsIsNotLostPiecewise) {
  bring_up();
  const auto late = open("insert into blog.posts (id, author_id, title) values (100, 1, 'first')");
  for (int i = 0; i < 5; ++i) {
    execute("update blog.posts set title = title || '.' where id = 1");
    support::execute(*late, "savepoint s; insert into blog.posts (id, title) values (" +
                                std::to_string(200 + i) + ", 'in'); " +
                                (i % 2 == 0 ? "release s" : "rollback to s"));
    pipeline_.catch_up();
  }
  support::execute(*late, "commit");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  EXPECT_TRUE(posts_.get("204"));
  EXPECT_FALSE(posts_.get("203"));
}

TEST_F(OpenTransactions, WhatWasRolledBackNeverArrives) {
  follow();
  execute("begin; insert into blog.posts (id, title) values (100, 'never'); rollback");
  execute(
      "begin; insert into blog.posts (id, title) values (101, 'kept'); savepoint a; "
      "insert into blog.posts (id, title) values (102, 'never'); update blog.posts set title = 'never' where "
      "id = 1; "
      "rollback to a; commit");
  EXPECT_TRUE(appears("101"));
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(proxy_.history().operations_on("100").empty());
  EXPECT_TRUE(proxy_.history().operations_on("102").empty());
}

TEST_F(OpenTransactions, APreparedTransactionArrivesWhenItIsCommittedAndNotBefore) {
  follow();
  const auto session = open("insert into blog.posts (id, title) values (100, 'prepared')");
  support::execute(*session, "prepare transaction '" + database_.name() + "-1'");
  support::execute(*session, "begin; insert into blog.posts (id, title) values (101, 'prepared')");
  support::execute(*session, "prepare transaction '" + database_.name() + "-2'");
  execute("insert into blog.posts (id, title) values (102, 'plain')");
  EXPECT_TRUE(appears("102"));
  restart();
  EXPECT_FALSE(posts_.get("100"));
  execute("commit prepared '" + database_.name() + "-1'");
  EXPECT_TRUE(appears("100"));
  execute("rollback prepared '" + database_.name() + "-2'");
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(proxy_.history().operations_on("101").empty());
}

TEST_F(OpenTransactions, AChildCommittedAfterItsParentsChangeHasTheParentsNewName) {
  follow();
  const auto child = open("insert into blog.posts (id, author_id, title) values (100, 1, 'child')");
  execute("update blog.authors set name = 'new name' where id = 1");
  EXPECT_TRUE(becomes(
      "5", R"({"title":"post 5","body":null,"author":"new name","comments":["comment 4","comment 24"]})"));
  support::execute(*child, "commit");
  EXPECT_TRUE(becomes("100", R"({"title":"child","body":null,"author":"new name","comments":null})"));
}

TEST_F(OpenTransactions, AChildInsertedJustBeforeItsParentsChangeIsNotLost) {
  follow();
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(100 + i);
    const auto parent = open("update blog.authors set name = 'name " + id + "' where id = 1");
    execute("insert into blog.posts (id, author_id, title) values (" + id + ", 1, 'child')");
    support::execute(*parent, "commit");
    ASSERT_TRUE(
        becomes(id, R"({"title":"child","body":null,"author":"name )" + id + R"(","comments":null})"));
  }
  EXPECT_TRUE(becomes_equal());
}

}  // namespace
}  // namespace lockstep::support
