#include "replicator/pipeline/isolation/standing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class StandingTest : public testing::Test {
 protected:
  StandingTest() {
    world_.add_silently(5);
    world_.database.add_job(kPosts, JobKind::kBackfill);
    EXPECT_TRUE(Leader(world_).catch_up());
  }

  /// Makes the view of posts fail; the leader sets it aside.
  void set_posts_aside() {
    world_.database.set_readable(kPosts, false);
    world_.put_post("p0001", "ann", 1);
    Leader leader(world_);
    ASSERT_TRUE(leader.catch_up());
    ASSERT_TRUE(leader.standing.is_paused(kPosts));
    world_.pipeline = world_.database.pipeline();  // as the next leader loads it
  }

  static std::vector<Job> take_back(Leader& leader) {
    return leader.standing.take_back_readable(std::chrono::steady_clock::now()).jobs;
  }

  World world_;
};

TEST_F(StandingTest, TheOthersGoOnWithoutAnIndexThatCannotBeRead) {
  set_posts_aside();
  world_.put_file("f", "a", 1);
  Leader leader(world_);
  EXPECT_TRUE(leader.standing.is_paused(kPosts));
  EXPECT_THAT(leader.standing.paused_text(), HasSubstr("posts: reading search.posts"));
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(world_.elasticsearch.get("files", "f", "a"));
  EXPECT_EQ(world_.database.state().position, world_.database.state().outbox.size());
}

TEST_F(StandingTest, AViewThatCannotBeReadYetStaysAside) {
  set_posts_aside();
  Leader leader(world_);
  EXPECT_TRUE(take_back(leader).empty());
  EXPECT_TRUE(leader.standing.is_paused(kPosts));
}

TEST_F(StandingTest, AnIndexThatIsTakenBackIsCompared) {
  set_posts_aside();
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.database.set_readable(kPosts, true);
  std::vector<JobKind> kinds;
  for (Job& job : take_back(leader)) {
    kinds.push_back(job.kind);
    leader.jobs.add(std::move(job));
  }
  EXPECT_THAT(kinds, UnorderedElementsAre(JobKind::kComparison, JobKind::kSweep));
  EXPECT_TRUE(world_.database.state().set_aside.empty());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(StandingTest, AnIndexWithAJobThatNobodyCanReadIsSetAsideUntilTheJobIsGone) {
  const UnreadableJob job{JobId{99}, kPosts, "job 99 is of an unknown kind"};
  world_.database.set_unreadable_jobs({job});
  {
    Leader leader(world_);
    leader.standing.pause(job.index, job.why);
    EXPECT_THAT(leader.standing.paused_text(), HasSubstr("posts: " + job.why));
  }
  world_.pipeline = world_.database.pipeline();
  world_.put_post("p0001", "ann", 7);
  world_.put_file("f", "a", 1);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(world_.elasticsearch.get("files", "f", "a")) << "the others continue";
  EXPECT_TRUE(take_back(leader).empty());
  EXPECT_EQ(world_.database.state().set_aside.at(kPosts), job.why);
  world_.database.set_unreadable_jobs({});
  for (Job& comparison : take_back(leader)) leader.jobs.add(std::move(comparison));
  EXPECT_TRUE(world_.database.state().set_aside.empty());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(StandingTest, AnUnfitIndexStaysAsideAsLongAsTheLeadershipLasts) {
  {
    Leader leader(world_);
    leader.standing.keep_paused(kPosts, "it has no mark");
    leader.standing.keep_paused(kPosts, "it is of another pipeline");
    EXPECT_EQ(world_.database.state().set_aside.at(kPosts), "it is of another pipeline");
    EXPECT_TRUE(take_back(leader).empty());
  }
  world_.pipeline = world_.database.pipeline();
  world_.put_post("p0001", "ann", 8);
  Leader next(world_);
  EXPECT_TRUE(next.standing.is_paused(kPosts));
  for (Job& comparison : take_back(next)) next.jobs.add(std::move(comparison));
  ASSERT_TRUE(next.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(StandingTest, WhatStopsAnIndexNowIsToldNotWhatStoppedItFirst) {
  set_posts_aside();
  Leader leader(world_);
  const UnreadableJob job{JobId{99}, kPosts, "job 99 is of an unknown kind"};
  world_.database.set_unreadable_jobs({job});
  world_.database.set_readable(kPosts, true);
  EXPECT_TRUE(take_back(leader).empty());
  EXPECT_EQ(world_.database.state().set_aside.at(kPosts), job.why);
  EXPECT_THAT(leader.standing.paused_text(), HasSubstr(job.why));
}

class SlowReadingTest : public testing::Test {
 protected:
  void add(std::chrono::seconds at) {
    standing_.note_too_slow(ViewTooSlow({"rendering", "it took long", "", Retry::kLater}, kPosts),
                            begin_ + at);
  }
  bool is_slow(std::chrono::seconds at) {
    standing_.release(begin_ + at);
    return standing_.of(kPosts) == Standing::Kind::kDeferred;
  }

  World world_;
  FakeSource source_{world_.database};
  const SteadyTime begin_{std::chrono::hours(1)};
  std::optional<SteadyTime> due_since_;
  Standing standing_{world_.pipeline,
                     source_.changes(),
                     Epoch{1},
                     {world_.elasticsearch.transports()(), [] {}, [](IndexId) { return false; },
                      [this](IndexId index, SteadyTime time) {
                        EXPECT_EQ(index, kPosts);
                        return due_since_ && *due_since_ <= time;
                      }},
                     {}};
};

TEST_F(SlowReadingTest, TheTailComesBackWhenWhatWasDueIsWritten) {
  add(seconds(3));
  EXPECT_EQ(standing_.of(kPosts), Standing::Kind::kDeferred);
  EXPECT_EQ(standing_.of(kFiles), Standing::Kind::kFollowed);
  EXPECT_EQ(standing_.reason(kPosts), "rendering: it took long");
  EXPECT_EQ(standing_.reason(kFiles), "");
  due_since_ = begin_ + seconds(3);
  EXPECT_TRUE(is_slow(seconds(600)));
  due_since_ = begin_ + seconds(4);
  EXPECT_FALSE(is_slow(seconds(600))) << "what became due later is written beside it";
}

TEST_F(SlowReadingTest, ItStaysAwayForAWhileAndLongerEachTimeThatItCameBackInVain) {
  add(seconds(0));
  EXPECT_TRUE(is_slow(seconds(4)));
  EXPECT_FALSE(is_slow(seconds(5)));
  add(seconds(6));
  EXPECT_TRUE(is_slow(seconds(15)));
  EXPECT_FALSE(is_slow(seconds(16)));
  add(seconds(17));
  EXPECT_TRUE(is_slow(seconds(36)));
  EXPECT_FALSE(is_slow(seconds(37)));
  add(seconds(37) + Standing::kLongestPauseOfReading);
  EXPECT_FALSE(is_slow(seconds(42) + Standing::kLongestPauseOfReading)) << "that was long ago";
}

}  // namespace
}  // namespace lockstep::fake
