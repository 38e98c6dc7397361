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
  Chore chore(const std::string& name, std::chrono::milliseconds every, Chore::First first) {
    return {every, first, [this, name] { done_.push_back(name); }, "a test"};
  }
  /// What is done at this time.
  std::vector<std::string> at(std::chrono::milliseconds time) {
    housekeeping_.run(begin_ + time);
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

}  // namespace
}  // namespace lockstep
