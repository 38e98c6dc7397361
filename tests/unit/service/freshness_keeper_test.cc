#include "replicator/service/freshness_keeper.h"

#include <gtest/gtest.h>

#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr WallTime kBegin{std::chrono::hours(500'000)};

class FreshnessKeeperTest : public testing::Test {
 protected:
  FreshnessKeeperTest() { progress_.state = PipelineState::kFollowing; }

  void note(FreshnessKeeper& keeper, WallTime at) {
    progress_.lag_known_at = clock_.now();
    keeper.note(progress_, clock_.now(), at);
  }
  /// What `keeper` would publish, `age` ago.
  static LeaderReport report_of(const FreshnessKeeper& keeper, std::chrono::milliseconds age) {
    LeaderReport report;
    report.age = age;
    report.document = status_document({}, 0, keeper.notes());
    return report;
  }

  HandClock clock_;
  ReplicationProgress progress_;
  FreshnessKeeper keeper_{seconds(2)};
};

TEST_F(FreshnessKeeperTest, ItKeepsNothingBeforeItKnowsWhatTheLastLeaderNoted) {
  note(keeper_, kBegin);
  EXPECT_FALSE(keeper_.notes());
  EXPECT_FALSE(keeper_.report(kBegin));
}

TEST_F(FreshnessKeeperTest, TheTimeWithoutALeaderIsMissedAlreadyInTheFirstReport) {
  keeper_.go_on_from(std::nullopt, kBegin);
  for (int second = 1; second <= 60; ++second) note(keeper_, kBegin + seconds(second));
  FreshnessKeeper next(seconds(2));
  next.go_on_from(report_of(keeper_, minutes(4)), kBegin + minutes(5));
  FreshnessKeeper third(seconds(2));
  third.go_on_from(report_of(next, seconds(0)), kBegin + minutes(5));
  const FreshnessReport report = third.report(kBegin + minutes(5)).value();
  EXPECT_EQ(report.known, minutes(5));
  EXPECT_EQ(report.missed, minutes(4));
}

TEST_F(FreshnessKeeperTest, ItsOwnNotesStayWhereTheyAreLaterThanTheReport) {
  keeper_.go_on_from(std::nullopt, kBegin);
  const LeaderReport early = report_of(keeper_, seconds(9));
  for (int second = 1; second <= 9; ++second) note(keeper_, kBegin + seconds(second));
  keeper_.go_on_from(early, kBegin + seconds(9));
  EXPECT_EQ(keeper_.report(kBegin + seconds(9)).value().missed, seconds(0));
}

TEST_F(FreshnessKeeperTest, AnotherObjectiveBeginsAnew) {
  keeper_.go_on_from(std::nullopt, kBegin);
  note(keeper_, kBegin + seconds(2));
  FreshnessKeeper other(seconds(3));
  other.go_on_from(report_of(keeper_, seconds(0)), kBegin + seconds(2));
  EXPECT_FALSE(other.report(kBegin + seconds(2)));
  EXPECT_EQ(other.notes().value().objective(), seconds(3));
}

TEST_F(FreshnessKeeperTest, NotesThatCannotBeReadBeginAnew) {
  LeaderReport broken;
  broken.document = R"({"slo": 7})";
  keeper_.go_on_from(broken, kBegin);
  note(keeper_, kBegin + seconds(1));
  EXPECT_EQ(keeper_.report(kBegin + seconds(1)).value().known, seconds(1));
}

}  // namespace
}  // namespace lockstep
