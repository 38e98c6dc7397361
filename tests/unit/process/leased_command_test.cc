#include "replicator/process/leased_command.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "replicator/error.h"

namespace lockstep {
namespace {

using std::chrono::minutes;

int run(const std::vector<std::string>& command, const std::vector<std::string>& environment = {}) {
  CaughtSignals signals;
  LeasedCommand child(signals, command, environment);
  return child.wait([] { return SystemClock().now() + minutes(1); });
}

TEST(LeasedCommandTest, TheExitCodeIsTheCommands) {
  EXPECT_EQ(run({"true"}), 0);
  EXPECT_EQ(run({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(run({"sh", "-c", "kill -KILL $$"}), 128 + SIGKILL);
}

TEST(LeasedCommandTest, TheCommandFindsWhatIsAddedToItsEnvironment) {
  EXPECT_EQ(run({"sh", "-c", "test \"$LOCKSTEP_FENCING_TOKEN\" = 17"}, {"LOCKSTEP_FENCING_TOKEN=17"}), 0);
}

TEST(LeasedCommandTest, ACommandThatCannotBeStartedIsAnError) {
  EXPECT_THROW(run({"/no/such/program"}), Error);
}

TEST(LeasedCommandTest, ALostLeaseEndsTheCommand) {
  CaughtSignals signals;
  LeasedCommand child(signals, {"sleep", "60"}, {});
  child.lose();
  EXPECT_EQ(child.wait([] { return SystemClock().now() + minutes(1); }), 128 + SIGTERM);
  EXPECT_TRUE(child.ended_by_us());
}

TEST(LeasedCommandTest, ALeaseThatHasRunOutIsLost) {
  CaughtSignals signals;
  LeasedCommand child(signals, {"sleep", "60"}, {});
  EXPECT_EQ(child.wait([] { return SystemClock().now(); }), 128 + SIGTERM);
  EXPECT_TRUE(child.ended_by_us());
}

TEST(LeasedCommandTest, SignalsReachTheCommand) {
  CaughtSignals signals;
  LeasedCommand child(signals, {"sleep", "60"}, {});
  ::raise(SIGTERM);
  EXPECT_EQ(child.wait([] { return SystemClock().now() + minutes(1); }), 128 + SIGTERM);
  EXPECT_FALSE(child.ended_by_us());
}

}  // namespace
}  // namespace lockstep
