#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "replicator/source/sqlite/session/connection.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

class MomentToWriteTest : public testing::Test {
 protected:
  MomentToWriteTest() {
    application_.execute("create table t (n)");
    source_.database = folder_.file("app.db");
  }

  static std::chrono::nanoseconds wait(SqliteConnection& connection) {
    const auto begin = std::chrono::steady_clock::now();
    connection.await_moment_to_write();
    return std::chrono::steady_clock::now() - begin;
  }
  /// Of many, since this process is not alone on its machine.
  static std::chrono::nanoseconds shortest_wait(SqliteConnection& connection) {
    std::chrono::nanoseconds shortest = wait(connection);
    for (int i = 0; i < 20; ++i) shortest = std::min(shortest, wait(connection));
    return shortest;
  }

  const ApplicationFolder folder_;
  Application application_{folder_.file("app.db")};
  SourceConfig source_;
};

TEST_F(MomentToWriteTest, WhoHasBeenQuietIsNotWatchedAgainBeforeTheNextCommit) {
  SqliteConnection connection(source_);
  EXPECT_GE(wait(connection), SqliteConnection::kLongestWatch) << "a commit may be near";
  EXPECT_LT(shortest_wait(connection), SqliteConnection::kLongestWatch);
  application_.execute("insert into t values (1)");
  EXPECT_GE(wait(connection), SqliteConnection::kLongestWatch);
}

// Each look would lock the file.
TEST_F(MomentToWriteTest, NobodyIsWatchedBesideARollbackJournal) {
  application_.execute("pragma journal_mode = delete");
  SqliteConnection connection(source_);
  EXPECT_LT(shortest_wait(connection), SqliteConnection::kLongestWatch);
}

}  // namespace
}  // namespace lockstep
