#include "replicator/process/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using std::chrono::seconds;
using support::wait_until;

class SignalsTest : public testing::TestWithParam<int> {};

TEST_P(SignalsTest, TheFirstAsksToStop) {
  const StopSignals signals;
  EXPECT_FALSE(signals.token().stop_requested());
  ::raise(GetParam());
  EXPECT_TRUE(wait_until([&] { return signals.token().stop_requested(); }, seconds(10)));
}

TEST_P(SignalsTest, TheSecondEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const StopSignals signals;
        ::raise(SIGTERM);
        ::raise(GetParam());
      },
      testing::KilledBySignal(GetParam()), "");
}

TEST_P(SignalsTest, WithoutASignalNothingIsAsked) {
  std::stop_token token;
  {
    const StopSignals signals;
    token = signals.token();
  }
  EXPECT_FALSE(token.stop_requested());
}

INSTANTIATE_TEST_SUITE_P(Both, SignalsTest, testing::Values(SIGTERM, SIGINT));

TEST(SignalsDeadlineTest, WhoDoesNotStopInTimeIsEnded) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const StopSignals signals;
        ::raise(SIGTERM);
        ::raise(SIGALRM);  // what the deadline raises
        ::pause();
      },
      testing::ExitedWithCode(1), "not stopped in time");
}

}  // namespace
}  // namespace lockstep
