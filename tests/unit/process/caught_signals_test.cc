#include "replicator/process/caught_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using std::chrono::seconds;
using support::wait_until;

// raise() would send it to this thread only.
void send(int number) {
  ::kill(::getpid(), number);
}

TEST(CaughtSignalsTest, SignalsWaitInAQueue) {
  CaughtSignals signals;
  EXPECT_FALSE(signals.next());
  send(SIGUSR1);
  const auto caught = signals.next();
  ASSERT_TRUE(caught);
  EXPECT_EQ(caught->number, SIGUSR1);
  EXPECT_FALSE(caught->from_terminal);
  EXPECT_FALSE(signals.next());
}

TEST(StopOnSignalTest, TheFirstSignalThatEndsAProgramAsksToStop) {
  CaughtSignals signals;
  StopOnSignal stop(signals);
  send(SIGUSR1);
  send(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return stop.token().stop_requested(); }, seconds(10)));
  EXPECT_EQ(stop.number(), SIGHUP);
}

TEST(StopOnSignalTest, OtherSignalsDoNot) {
  CaughtSignals signals;
  StopOnSignal stop(signals);
  send(SIGUSR1);
  EXPECT_EQ(stop.number(), std::nullopt);
  EXPECT_FALSE(stop.token().stop_requested());
}

}  // namespace
}  // namespace lockstep
