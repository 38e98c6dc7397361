#include "replicator/pipeline/jobs/background_share.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using namespace std::chrono_literals;

/// A cluster in which a small change waits for what the jobs have in flight.
class BackgroundShareTest : public testing::Test {
 protected:
  BackgroundShareTest() {
    for (int i = 0; i < 50; ++i) share_.page_took(1000, 1ms);
  }

  std::int64_t in_flight() const {
    return share_.documents(now_) * static_cast<std::int64_t>(share_.requests(now_));
  }

  /// Small changes for so long, each delayed by what is in flight for jobs.
  void small_changes(std::chrono::milliseconds lasting, std::chrono::microseconds for_each_document,
                     std::chrono::microseconds base = 2ms) {
    for (const SteadyTime end = now_ + lasting; now_ < end; now_ += 20ms) {
      delay_ = for_each_document * in_flight();
      share_.small_change_took(base + delay_, share_.requests(now_), now_);
    }
  }

  BackgroundShare share_{2, 2000};
  SteadyTime now_{1h};
  std::chrono::microseconds delay_{};
};

TEST_F(BackgroundShareTest, JobsTakeEverythingWhileTheyAreAlone) {
  EXPECT_EQ(share_.requests(now_), 2U);
  EXPECT_EQ(share_.documents(now_), 2000);
}

TEST_F(BackgroundShareTest, JobsYieldUntilSmallChangesAreQuick) {
  small_changes(60s, 5us);
  EXPECT_LE(delay_, 16ms);
  EXPECT_GE(delay_, 5ms) << "and leave nothing unused";
}

TEST_F(BackgroundShareTest, JobsTakeEverythingAgainWhenSmallChangesEnd) {
  small_changes(5s, 30us);
  ASSERT_LT(in_flight(), 1500);
  now_ += 1s;
  EXPECT_EQ(in_flight(), 4000);
}

TEST_F(BackgroundShareTest, ADistantClusterIsNotTakenForABusyOne) {
  small_changes(60s, 1us, 80ms);
  EXPECT_GE(in_flight(), 2000);
}

TEST_F(BackgroundShareTest, AClusterThatBecomesSlowIsTheMeasureAfterTwoMinutes) {
  small_changes(60s, 1us, 2ms);
  small_changes(200s, 1us, 80ms);
  EXPECT_GE(in_flight(), 2000);
}

TEST_F(BackgroundShareTest, SmallChangesBeforeALargeOneGiveItNoHeadStart) {
  share_.small_change_took(2ms, 0, now_);
  const std::int64_t first = in_flight();
  for (const SteadyTime end = now_ + 60s; now_ < end; now_ += 20ms) share_.small_change_took(2ms, 0, now_);
  EXPECT_EQ(in_flight(), first);
  small_changes(1s, 1us);
  EXPECT_GT(in_flight(), first) << "what it uses without a delay is its own";
}

// Two threads: two requests of jobs leave none to a small change, and one in three waits for a whole page.
// That is too few for the least of four.
TEST_F(BackgroundShareTest, ASecondRequestThatMakesSmallChangesWaitIsGivenUp) {
  int slow = 0;
  for (int i = 0; i < 3000; ++i, now_ += 20ms) {
    const bool waits = share_.requests(now_) > 1 && i % 3 == 0;
    if (waits) ++slow;
    share_.small_change_took(waits ? 40ms : 2ms, share_.requests(now_), now_);
  }
  EXPECT_GT(slow, 0) << "a second one is tried now and then";
  EXPECT_LT(slow, 30) << "less than every hundredth change pays for that";
}

TEST_F(BackgroundShareTest, JobsHaveTwoRequestsWhereTheseDelayNothing) {
  for (int i = 0; i < 50; ++i) share_.page_took(1000, 10ms);  // so that pages are short
  small_changes(60s, 1us);
  EXPECT_EQ(share_.requests(now_), 2U);
}

TEST_F(BackgroundShareTest, NothingIsEverStopped) {
  small_changes(5s, 10ms);
  EXPECT_GE(in_flight(), 300);
  EXPECT_LE(in_flight(), 600);
  EXPECT_EQ(share_.requests(now_), 1U);
}

TEST_F(BackgroundShareTest, APageIsReadInAFewMillisecondsBesideSmallChanges) {
  for (int i = 0; i < 50; ++i) share_.page_took(1000, 100ms);
  EXPECT_EQ(share_.documents(now_), 2000);
  share_.small_change_took(2ms, 1, now_);
  EXPECT_LE(share_.documents(now_), 300);
}

}  // namespace
}  // namespace lockstep
