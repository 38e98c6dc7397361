#include "replicator/service/history.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr WallTime kFirstSecond{seconds(1'000'000'000)};

class HistoryTest : public testing::Test {
 protected:
  History::Point last(WallTime now) { return history_.points(now).back(); }

  History history_;
};

TEST_F(HistoryTest, AStepHasTheLongestLagAndTheAverageRate) {
  history_.add(kFirstSecond, {milliseconds(20), 100});
  history_.add(kFirstSecond + seconds(1), {milliseconds(500), 300});
  history_.add(kFirstSecond + seconds(2), {milliseconds(10), 500});
  EXPECT_DOUBLE_EQ(last(kFirstSecond + seconds(3)).lag_seconds.value(), 0.5);
  EXPECT_DOUBLE_EQ(last(kFirstSecond + seconds(3)).documents_per_second.value(), 200);
}

TEST_F(HistoryTest, WhatNobodySawIsAGap) {
  history_.add(kFirstSecond, {});
  history_.add(kFirstSecond + seconds(30), {milliseconds(5), std::nullopt});
  const std::vector<History::Point> points = history_.points(kFirstSecond + seconds(30));
  ASSERT_EQ(points.size(), static_cast<std::size_t>(History::kSteps));
  EXPECT_TRUE(points.end()[-1].lag_seconds);
  EXPECT_FALSE(points.end()[-1].documents_per_second) << "another process writes";
  EXPECT_FALSE(points.end()[-2].lag_seconds);
  EXPECT_FALSE(points.end()[-3].lag_seconds);
  EXPECT_TRUE(points.end()[-4].lag_seconds);
}

TEST_F(HistoryTest, ARateIsNotCountedAcrossATimeInWhichAnotherProcessWrote) {
  history_.add(kFirstSecond, {{}, 100});
  history_.add(kFirstSecond + seconds(1), {{}, std::nullopt});
  history_.add(kFirstSecond + seconds(2), {{}, 900});
  EXPECT_FALSE(last(kFirstSecond + seconds(2)).documents_per_second);
  history_.add(kFirstSecond + seconds(3), {{}, 910});
  EXPECT_DOUBLE_EQ(last(kFirstSecond + seconds(3)).documents_per_second.value(), 10);
}

TEST_F(HistoryTest, ACountThatLosesAnIndexWhichEndedIsNoNegativeRate) {
  history_.add(kFirstSecond, {{}, 900});
  history_.add(kFirstSecond + seconds(1), {{}, 100});
  EXPECT_FALSE(last(kFirstSecond + seconds(1)).documents_per_second);
  history_.add(kFirstSecond + seconds(2), {{}, 110});
  EXPECT_DOUBLE_EQ(last(kFirstSecond + seconds(2)).documents_per_second.value(), 10);
}

TEST_F(HistoryTest, ItForgetsWhatIsOlderThanAnHour) {
  history_.add(kFirstSecond, {seconds(9), 1});
  const WallTime later = kFirstSecond + std::chrono::hours(1) + seconds(1);
  for (const History::Point& point : history_.points(later)) EXPECT_FALSE(point.lag_seconds);
  history_.add(later, {milliseconds(1), 1});
  for (const History::Point& point : history_.points(later)) EXPECT_LT(point.lag_seconds.value_or(0), 1);
}

TEST_F(HistoryTest, AClockThatGoesBackABitAddsToTheLastStep) {
  history_.add(kFirstSecond, {milliseconds(1), 10});
  history_.add(kFirstSecond - seconds(1), {seconds(3), 20});
  EXPECT_DOUBLE_EQ(last(kFirstSecond).lag_seconds.value(), 3);
  EXPECT_FALSE(last(kFirstSecond).documents_per_second) << "no time has passed";
}

TEST_F(HistoryTest, WhatComesAfterTheClockWasPutBackIsShown) {
  history_.add(kFirstSecond, {milliseconds(1), 10});
  const WallTime before = kFirstSecond - std::chrono::hours(1);
  history_.add(before, {seconds(3), 20});
  history_.add(before + seconds(1), {seconds(2), 30});
  EXPECT_DOUBLE_EQ(last(before + seconds(1)).lag_seconds.value(), 3);
  EXPECT_DOUBLE_EQ(last(before + seconds(1)).documents_per_second.value(), 10);
}

}  // namespace
}  // namespace lockstep
