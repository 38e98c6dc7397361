#include "replicator/service/health.h"

#include <gtest/gtest.h>

#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using std::chrono::seconds;

class HealthTest : public testing::Test {
 protected:
  HealthTest() { progress_.turned_at = progress_.advanced_at = clock_.now(); }

  Health after(std::chrono::seconds time) const { return judge(progress_, clock_.now() + time); }

  HandClock clock_;
  ReplicationProgress progress_;
};

TEST_F(HealthTest, FollowingIsAliveAndReady) {
  progress_.state = PipelineState::kFollowing;
  EXPECT_EQ(after(seconds(1)).alive, Verdict::kGood);
  EXPECT_EQ(after(seconds(1)).ready, Verdict::kGood);
}

TEST_F(HealthTest, ALoopThatTurnsWithoutGettingAnywhereIsNotReady) {
  progress_.state = PipelineState::kFollowing;
  const Health health = after(kStuckAfter + seconds(1));
  EXPECT_EQ(health.alive, Verdict::kGood);
  EXPECT_EQ(health.ready, Verdict::kBad);
  EXPECT_EQ(health.reason, "following, but nothing was acknowledged for 31.0 s");
}

TEST_F(HealthTest, NobodyIsReadyWhoFollowsNoIndex) {
  progress_.state = PipelineState::kFollowing;
  progress_.indices[IndexId{1}].alias = "posts";
  progress_.indices[IndexId{2}].alias = "users";
  progress_.indices[IndexId{1}].set_aside = true;
  EXPECT_EQ(after(seconds(1)).ready, Verdict::kGood);
  progress_.indices[IndexId{2}].set_aside = true;
  EXPECT_EQ(after(seconds(1)).alive, Verdict::kGood);
  EXPECT_EQ(after(seconds(1)).ready, Verdict::kBad);
  EXPECT_EQ(after(seconds(1)).reason,
            "following, but no index is followed, `lockstep status` shows why: posts and all others");
}

TEST_F(HealthTest, WhatTakesLongIsPartOfTheReasonWhateverTheVerdict) {
  progress_.state = PipelineState::kFollowing;
  progress_.slow_reading = "rendering documents of posts has taken 7.0 s";
  EXPECT_EQ(after(seconds(1)).ready, Verdict::kGood);
  EXPECT_EQ(after(seconds(1)).reason, "following: rendering documents of posts has taken 7.0 s");
  EXPECT_EQ(
      after(kStuckAfter + seconds(1)).reason,
      "following, but nothing was acknowledged for 31.0 s: rendering documents of posts has taken 7.0 s");
}

TEST_F(HealthTest, ALoopThatHangsIsNotAliveWhateverItsStateSays) {
  for (const PipelineState state :
       {PipelineState::kFollowing, PipelineState::kStandingBy, PipelineState::kWaitingForSource}) {
    progress_.state = state;
    EXPECT_EQ(after(kHungAfter).alive, Verdict::kGood);
    EXPECT_EQ(after(kHungAfter + seconds(1)).alive, Verdict::kBad);
    EXPECT_EQ(after(kHungAfter + seconds(1)).ready, Verdict::kBad);
  }
}

TEST_F(HealthTest, WaitingForAServerIsAliveAndNotReady) {
  progress_.state = PipelineState::kWaitingForElasticsearch;
  progress_.reason = "connection refused";
  EXPECT_EQ(after(seconds(0)).alive, Verdict::kGood);
  EXPECT_EQ(after(seconds(0)).ready, Verdict::kBad);
  EXPECT_EQ(after(seconds(0)).reason, "waiting_for_elasticsearch: connection refused");
}

TEST_F(HealthTest, StandingByIsReadyToTakeOver) {
  progress_.state = PipelineState::kStandingBy;
  EXPECT_EQ(after(seconds(60)).ready, Verdict::kGood);
}

TEST_F(HealthTest, StandingByWhileNobodyLeadsIsAliveAndNotReady) {
  progress_.state = PipelineState::kStandingBy;
  progress_.unled = "host, process 7, has not reported for 12.0 s";
  EXPECT_EQ(after(seconds(1)).alive, Verdict::kGood);
  EXPECT_EQ(after(seconds(1)).ready, Verdict::kBad);
  EXPECT_EQ(after(seconds(1)).reason,
            "standing_by, but no process runs the pipeline: host, process 7, has not reported for 12.0 s");
}

}  // namespace
}  // namespace lockstep
