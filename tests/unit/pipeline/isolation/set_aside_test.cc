#include "replicator/pipeline/isolation/set_aside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class SetAsideTest : public testing::Test {
 protected:
  SetAsideTest() {
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
    ASSERT_TRUE(leader.set_aside.contains(kPosts));
    world_.pipeline = world_.database.pipeline();  // as the next leader loads it
  }

  static std::vector<Job> take_back(Leader& leader) {
    return leader.set_aside.take_back_readable(std::chrono::steady_clock::now(), leader.held);
  }

  World world_;
};

TEST_F(SetAsideTest, TheOthersGoOnWithoutAnIndexThatCannotBeRead) {
  set_posts_aside();
  world_.put_file("f", "a", 1);
  Leader leader(world_);
  EXPECT_TRUE(leader.set_aside.contains(kPosts));
  EXPECT_THAT(leader.set_aside.text(), HasSubstr("posts: reading search.posts"));
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(world_.elasticsearch.get("files", "f", "a"));
  EXPECT_EQ(world_.database.state().position, world_.database.state().outbox.size());
}

TEST_F(SetAsideTest, AViewThatCannotBeReadYetStaysAside) {
  set_posts_aside();
  Leader leader(world_);
  EXPECT_TRUE(take_back(leader).empty());
  EXPECT_TRUE(leader.set_aside.contains(kPosts));
}

TEST_F(SetAsideTest, AnIndexThatIsTakenBackIsCompared) {
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

TEST_F(SetAsideTest, AnIndexWithAJobThatNobodyCanReadIsSetAsideUntilTheJobIsGone) {
  const UnreadableJob job{JobId{99}, kPosts, "job 99 is of an unknown kind"};
  world_.database.set_unreadable_jobs({job});
  {
    Leader leader(world_);
    leader.set_aside.add(job.index, job.why);
    EXPECT_THAT(leader.set_aside.text(), HasSubstr("posts: " + job.why));
  }
  world_.pipeline = world_.database.pipeline();
  world_.put_post("p0001", "ann", 7);
  world_.put_file("f", "a", 1);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(world_.elasticsearch.get("files", "f", "a")) << "the others go on";
  EXPECT_TRUE(take_back(leader).empty());
  EXPECT_EQ(world_.database.state().set_aside.at(kPosts), job.why);
  world_.database.set_unreadable_jobs({});
  for (Job& comparison : take_back(leader)) leader.jobs.add(std::move(comparison));
  EXPECT_TRUE(world_.database.state().set_aside.empty());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(SetAsideTest, AnUnfitIndexStaysAsideAsLongAsTheLeadershipLasts) {
  {
    Leader leader(world_);
    leader.set_aside.keep(kPosts, "it has no mark");
    leader.set_aside.keep(kPosts, "it is of another pipeline");
    EXPECT_EQ(world_.database.state().set_aside.at(kPosts), "it is of another pipeline");
    EXPECT_TRUE(take_back(leader).empty());
  }
  world_.pipeline = world_.database.pipeline();
  world_.put_post("p0001", "ann", 8);
  Leader next(world_);
  EXPECT_TRUE(next.set_aside.contains(kPosts));
  for (Job& comparison : take_back(next)) next.jobs.add(std::move(comparison));
  ASSERT_TRUE(next.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(SetAsideTest, WhatStopsAnIndexNowIsToldNotWhatStoppedItFirst) {
  set_posts_aside();
  Leader leader(world_);
  const UnreadableJob job{JobId{99}, kPosts, "job 99 is of an unknown kind"};
  world_.database.set_unreadable_jobs({job});
  world_.database.set_readable(kPosts, true);
  EXPECT_TRUE(take_back(leader).empty());
  EXPECT_EQ(world_.database.state().set_aside.at(kPosts), job.why);
  EXPECT_THAT(leader.set_aside.text(), HasSubstr(job.why));
}

}  // namespace
}  // namespace lockstep::fake
