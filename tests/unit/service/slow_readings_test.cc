#include "replicator/service/slow_readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

class SlowReadingsTest : public testing::Test {
 protected:
  SlowReadingsTest() {
    tell([this](ReplicationProgress& progress) {
      progress.state = PipelineState::kFollowing;
      progress.turned_at = progress.lag_known_at = begin_;
    });
  }

  void tell(const std::function<void(ReplicationProgress&)>& change) { board_.update(change); }

  /// What the board says after that time.
  std::string after(std::chrono::milliseconds time) {
    slow_.look(board_, begin_ + time, [this] {
      ++asked_;
      return locks_;
    });
    return board_.read().slow_reading;
  }

  const SteadyTime begin_{std::chrono::hours(1)};
  ProgressBoard board_;
  SlowReadings slow_;
  std::vector<LockWait> locks_;
  int asked_ = 0;
};

TEST_F(SlowReadingsTest, WhatTheLoopReadsIsNamedOnceItTakesLong) {
  tell([&](ReplicationProgress& progress) {
    progress.loop_reads = {"rendering documents of posts", begin_};
  });
  EXPECT_EQ(after(SlowReadings::kSlow - seconds(1)), "");
  EXPECT_EQ(asked_, 0) << "it costs the source nothing before";
  EXPECT_EQ(after(seconds(7)), "rendering documents of posts has taken 7.0 s");
  EXPECT_EQ(board_.read().slow_since, begin_);
  tell([&](ReplicationProgress& progress) { progress.loop_reads = {}; });
  EXPECT_EQ(after(seconds(8)), "");
  EXPECT_EQ(after(seconds(12)), "a turn of the replication loop has taken 12.0 s");
  tell([&](ReplicationProgress& progress) { progress.turned_at = begin_ + seconds(12); });
  EXPECT_EQ(after(seconds(13)), "");
  EXPECT_EQ(board_.read().slow_since, SteadyTime{});
}

TEST_F(SlowReadingsTest, WhoHoldsTheLockIsNamedWithWhatToDo) {
  tell([&](ReplicationProgress& progress) {
    progress.loop_reads = {"rendering documents of posts", begin_};
  });
  locks_ = {{LockWait::Waiter::kLoop, "app.items", 4711, "app", "psql"},
            {LockWait::Waiter::kPages, "app.other", 9, "", ""}};
  EXPECT_EQ(
      after(seconds(4)),
      "rendering documents of posts has taken 4.0 s: it waits for a lock on app.items that session 4711 "
      "of role app (psql) holds; end that transaction: select pg_terminate_backend(4711)");
  locks_ = {{LockWait::Waiter::kLoop, "", 0, "", ""}};
  EXPECT_THAT(after(seconds(4)), AllOf(HasSubstr("for a lock that a prepared transaction holds"),
                                       HasSubstr("pg_prepared_xacts")));
}

TEST_F(SlowReadingsTest, APageOfAJobMayTakeLongerUnlessItWaitsForALock) {
  tell([&](ReplicationProgress& progress) {
    progress.turned_at = begin_ + seconds(60);
    progress.job_reads = {"reading a page of the due list of posts", begin_};
  });
  EXPECT_EQ(after(SlowReadings::kSlowOther - seconds(1)), "");
  EXPECT_EQ(after(seconds(25)), "reading a page of the due list of posts has taken 25.0 s");
  locks_ = {{LockWait::Waiter::kPages, "app.items", 4711, "app", "psql"}};
  EXPECT_THAT(after(seconds(4)),
              AllOf(HasSubstr("page of the due list of posts has taken 4.0 s"), HasSubstr("session 4711")));
}

TEST_F(SlowReadingsTest, ChangesWhoseDocumentsALockKeepsFromBeingFoundAreNamed) {
  tell([&](ReplicationProgress& progress) {
    progress.turned_at = begin_ + seconds(60);
    IndexProgress& posts = progress.indices[IndexId{1}];
    posts.alias = "posts";
    posts.due = {.index = IndexId{1}, .changes = 2, .oldest_age = seconds(1)};
    posts.due_known_at = begin_ + seconds(1);
  });
  locks_ = {{LockWait::Waiter::kLists, "app.items", 4711, "app", "psql"}};
  EXPECT_EQ(after(seconds(2)), "");
  EXPECT_EQ(asked_, 0);
  const auto tell_due = [&](std::int64_t documents) {
    tell([&](ReplicationProgress& progress) {
      IndexProgress& posts = progress.indices[IndexId{1}];
      posts.due->oldest_age = seconds(24);
      posts.due->documents = documents;
      posts.due_known_at = begin_ + seconds(24);
    });
  };
  tell_due(0);
  EXPECT_THAT(after(seconds(25)),
              HasSubstr("finding the documents of a large change of posts has taken 25.0 s: it waits"));
  locks_.clear();
  EXPECT_EQ(after(seconds(25)), "") << "it may have to wait for its turn";
  asked_ = 0;
  tell_due(500);
  EXPECT_EQ(after(seconds(25)), "") << "these are written first";
  EXPECT_EQ(asked_, 0);
}

TEST_F(SlowReadingsTest, ALoopThatHasNotBegunOrDoesNotLeadIsNotJudged) {
  tell([](ReplicationProgress& progress) { progress.lag_known_at = {}; });
  EXPECT_EQ(after(seconds(60)), "");
  tell([this](ReplicationProgress& progress) {
    progress.lag_known_at = begin_;
    progress.state = PipelineState::kStandingBy;
  });
  EXPECT_EQ(after(seconds(60)), "");
}

}  // namespace
}  // namespace lockstep
