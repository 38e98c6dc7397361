#include "replicator/pipeline/housekeeping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class HousekeepingTest : public testing::Test {
 protected:
  Chore chore(const std::string& name, std::chrono::milliseconds every, Chore::First first,
              Chore::Cause cause = Chore::Cause::kTime) {
    return {every, first, [this, name] { done_.push_back(name); }, "a test", cause};
  }
  /// What is done at this time.
  std::vector<std::string> at(std::chrono::milliseconds time, SourceSince source = SourceSince::kUnknown) {
    housekeeping_.run(begin_ + time, source);
    return std::exchange(done_, {});
  }

  const SteadyTime begin_ = SteadyTime() + 1h;
  std::vector<std::string> done_;
  Housekeeping housekeeping_{
      {chore("prune", 30s, Chore::First::kAfterInterval), chore("report", 100ms, Chore::First::kAtOnce),
       chore("measure", 10s, Chore::First::kAtOnce)},
      begin_};
};

TEST_F(HousekeepingTest, AChoreIsDoneAtOnceOrAfterItsFirstInterval) {
  EXPECT_THAT(at(0ms), ElementsAre("report", "measure"));
  EXPECT_THAT(at(0ms), IsEmpty());
  EXPECT_THAT(at(30s), ElementsAre("prune", "report", "measure"));
}

TEST_F(HousekeepingTest, AChoreIsDoneOnceAnIntervalHoweverOftenTheLoopTurns) {
  at(0ms);
  EXPECT_THAT(at(99ms), IsEmpty());
  EXPECT_THAT(at(100ms), ElementsAre("report"));
  EXPECT_THAT(at(199ms), IsEmpty());
  EXPECT_THAT(at(5s), ElementsAre("report")) << "what was missed is not made up for";
}

class CommitChoreTest : public HousekeepingTest {
 protected:
  CommitChoreTest() {
    housekeeping_ =
        Housekeeping({chore("take jobs", 1s, Chore::First::kAtOnce, Chore::Cause::kCommit)}, begin_);
    EXPECT_THAT(at(0ms), ElementsAre("take jobs"));
  }
};

TEST_F(CommitChoreTest, WithoutACommitItIsDoneNowAndThenAllTheSame) {
  int times = 0;
  for (auto time = 100ms; time <= 60s; time += 100ms)
    times += static_cast<int>(at(time, SourceSince::kStoodStill).size());
  EXPECT_EQ(times, 12) << "what kept it from its work may be over without a commit";
}

TEST_F(CommitChoreTest, AfterACommitItIsDoneWhenItsIntervalIsOver) {
  EXPECT_THAT(at(200ms), IsEmpty());
  EXPECT_THAT(at(1s, SourceSince::kStoodStill), ElementsAre("take jobs")) << "there was one since";
  EXPECT_THAT(at(2s, SourceSince::kStoodStill), IsEmpty());
  EXPECT_THAT(at(3s), ElementsAre("take jobs"));
}

}  // namespace
}  // namespace lockstep
