#include "replicator/process/stop_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using std::chrono::seconds;
using support::wait_until;

class StopSignalsTest : public testing::TestWithParam<int> {};

TEST_P(StopSignalsTest, TheFirstAsksToStop) {
  const StopSignals signals;
  EXPECT_FALSE(signals.token().stop_requested());
  ::raise(GetParam());
  EXPECT_TRUE(wait_until([&] { return signals.token().stop_requested(); }, seconds(10)));
}

TEST_P(StopSignalsTest, TheSecondEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const StopSignals signals;
        ::raise(SIGTERM);
        ::raise(GetParam());
      },
      testing::KilledBySignal(GetParam()), "");
}

TEST_P(StopSignalsTest, WithoutASignalThereIsNoRequest) {
  std::stop_token token;
  {
    const StopSignals signals;
    token = signals.token();
  }
  EXPECT_FALSE(token.stop_requested());
}

INSTANTIATE_TEST_SUITE_P(Both, StopSignalsTest, testing::Values(SIGTERM, SIGINT));

TEST(StopSignalsDeadlineTest, AProcessThatDoesNotStopInTimeIsEnded) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const StopSignals signals;
        ::raise(SIGTERM);
        ::raise(SIGALRM);  // as the deadline does
        ::pause();
      },
      testing::ExitedWithCode(1), "not stopped in time");
}

}  // namespace
}  // namespace lockstep
