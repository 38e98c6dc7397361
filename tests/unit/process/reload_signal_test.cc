#include "replicator/process/reload_signal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "tests/support/eventually.h"

namespace lockstep {
namespace {

TEST(ReloadSignalTest, EachSighupIsToldAndEndsNothing) {
  std::atomic<int> told = 0;
  const ReloadSignal signal([&] { ++told; });
  for (int i = 1; i <= 3; ++i) {
    ::kill(::getpid(), SIGHUP);
    EXPECT_TRUE(support::wait_until([&] { return told == i; }, std::chrono::seconds(10)));
  }
}

TEST(ReloadSignalTest, AfterwardsASighupEndsTheProcessAgain) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        ::signal(SIGHUP, SIG_DFL);  // whoever runs the tests may ignore it, as nohup does
        {
          const ReloadSignal signal([] {});
        }
        ::raise(SIGHUP);
      },
      testing::KilledBySignal(SIGHUP), "");
}

}  // namespace
}  // namespace lockstep
