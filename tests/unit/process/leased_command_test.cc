#include "replicator/process/leased_command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include "replicator/process/descendants.h"
#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using std::chrono::minutes;

SteadyTime in_a_minute() {
  return SystemClock().now() + minutes(1);
}

int run(const std::vector<std::string>& command, const std::vector<std::string>& environment = {}) {
  const InheritedDescriptors inherited;
  CaughtSignals signals;
  LeasedCommand child(signals, inherited, {command, environment, in_a_minute()});
  return child.wait(in_a_minute);
}

TEST(LeasedCommandTest, TheExitCodeIsTheCommands) {
  EXPECT_EQ(run({"true"}), 0);
  EXPECT_EQ(run({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(run({"sh", "-c", "kill -KILL $$"}), 128 + SIGKILL);
}

TEST(LeasedCommandTest, TheCommandFindsWhatIsAddedToItsEnvironment) {
  EXPECT_EQ(run({"sh", "-c", "test \"$LOCKSTEP_FENCING_TOKEN\" = 17"}, {"LOCKSTEP_FENCING_TOKEN=17"}), 0);
}

TEST(LeasedCommandTest, ACommandThatCannotBeStartedHasAShellsExitCode) {
  const auto code = [](const std::string& command) {
    try {
      run({command});
    } catch (const NotStarted& error) {
      return error.exit_code();
    }
    return 0;
  };
  EXPECT_EQ(code("/no/such/program"), 127);
  EXPECT_EQ(code("/etc/passwd"), 126);
}

// Reported: a command inherited lockstep's socket to Elasticsearch.
TEST(LeasedCommandTest, TheCommandGetsWhatWeWereStartedWithAndNothingThatWasOpenedSince) {
  std::array<int, 2> before{};
  std::array<int, 2> since{};
  ASSERT_EQ(::pipe(before.data()), 0);
  const InheritedDescriptors inherited;
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, since.data()), 0);
  CaughtSignals signals;
  LeasedCommand child(
      signals, inherited,
      {{"sh", "-c", "test -e /proc/self/fd/$0 && ! test -e /proc/$PPID/fd/$1 && ! test -e /proc/self/fd/$1",
        std::to_string(before[1]), std::to_string(since[1])},
       {},
       in_a_minute()});
  EXPECT_EQ(child.wait(in_a_minute), 0);
  for (const int descriptor : {before[0], before[1], since[0], since[1]}) ::close(descriptor);
}

TEST(LeasedCommandTest, ALostLeaseEndsTheCommand) {
  CaughtSignals signals;
  LeasedCommand child(signals, InheritedDescriptors(), {{"sleep", "60"}, {}, in_a_minute()});
  child.lose();
  EXPECT_EQ(child.wait(in_a_minute), 128 + SIGTERM);
  EXPECT_TRUE(child.ended_by_us());
}

TEST(LeasedCommandTest, ALeaseThatHasRunOutIsLost) {
  CaughtSignals signals;
  LeasedCommand child(signals, InheritedDescriptors(), {{"sleep", "60"}, {}, in_a_minute()});
  const SteadyTime over = SystemClock().now();
  const int code = child.wait([over] { return over; });
  EXPECT_TRUE(code == 128 + SIGTERM || code == 128 + SIGKILL) << code;
  EXPECT_TRUE(child.ended_by_us());
}

TEST(LeasedCommandTest, ACommandIsToldBeforeItsLeaseRunsOut) {
  CaughtSignals signals;
  LeasedCommand child(signals, InheritedDescriptors(), {{"sleep", "60"}, {}, in_a_minute()});
  const SteadyTime end = in_a_minute();
  EXPECT_EQ(child.wait([&] { return end; }, minutes(2)), 128 + SIGTERM);
  EXPECT_LT(SystemClock().now(), end);
}

TEST(LeasedCommandTest, WhatTheCommandLeavesRunningEndsWithIt) {
  CaughtSignals signals;
  LeasedCommand child(
      signals, InheritedDescriptors(),
      {{"sh", "-c", "setsid sleep 60 & setsid sh -c 'sleep 60 & sleep 60' & exit 3"}, {}, in_a_minute()});
  EXPECT_EQ(child.wait(in_a_minute), 3);
  EXPECT_TRUE(descendants().empty());
}

TEST(LeasedCommandTest, WhatIgnoresSigtermIsKilledWhenTheLeaseEnds) {
  CaughtSignals signals;
  LeasedCommand child(
      signals, InheritedDescriptors(),
      {{"sh", "-c", "trap '' TERM; sleep 60 & while :; do sleep 1; done"}, {}, in_a_minute()});
  const SteadyTime end = SystemClock().now() + std::chrono::milliseconds(400);
  EXPECT_EQ(child.wait([&] { return end; }, std::chrono::milliseconds(300)), 128 + SIGKILL);
  EXPECT_TRUE(descendants().empty());
}

// Reported: a stopped lockstep left its command running beside the next holder for up to a minute.
TEST(LeasedCommandTest, WhenNobodyWatchesTheLeaseTheCommandEndsWithItAllTheSame) {
  CaughtSignals signals;
  const LeasedCommand child(signals, InheritedDescriptors(),
                            {{"sh", "-c", "trap '' TERM; setsid sleep 60 & sleep 60; sleep 60"},
                             {},
                             SystemClock().now() + std::chrono::milliseconds(300)});
  EXPECT_TRUE(support::wait_until([] { return descendants().empty(); }, std::chrono::seconds(30)));
  EXPECT_TRUE(child.ended_by_us());
}

TEST(LeasedCommandTest, WhenItsGuardIsKilledTheCommandEndsToo) {
  CaughtSignals signals;
  LeasedCommand child(signals, InheritedDescriptors(),
                      {{"sh", "-c", "setsid sleep 60 & kill -KILL $PPID; sleep 60"}, {}, in_a_minute()});
  EXPECT_EQ(child.wait(in_a_minute), 128 + SIGKILL);
  EXPECT_EQ(child.guard_killed(), SIGKILL);
  EXPECT_TRUE(descendants().empty());
}

TEST(LeasedCommandTest, SignalsReachTheCommand) {
  CaughtSignals signals;
  LeasedCommand child(signals, InheritedDescriptors(), {{"sleep", "60"}, {}, in_a_minute()});
  ::raise(SIGALRM);
  EXPECT_EQ(child.wait(in_a_minute), 128 + SIGALRM);
  EXPECT_FALSE(child.ended_by_us());
  EXPECT_FALSE(child.guard_killed());
}

}  // namespace
}  // namespace lockstep
