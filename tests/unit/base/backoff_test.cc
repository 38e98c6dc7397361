#include "replicator/backoff.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using std::chrono::milliseconds;

TEST(BackoffTest, DoublesUpToTheCapWithJitterInTheUpperHalf) {
  Backoff backoff({.first = milliseconds(100), .cap = milliseconds(1'000)}, 1);
  for (const int whole : {100, 200, 400, 800, 1'000, 1'000, 1'000}) {
    const milliseconds delay = backoff.next();
    EXPECT_GE(delay, milliseconds(whole / 2));
    EXPECT_LE(delay, milliseconds(whole));
  }
}

TEST(BackoffTest, StaysAtTheCapForEver) {
  Backoff backoff({.first = milliseconds(50), .cap = milliseconds(15'000)}, 7);
  for (int i = 0; i < 1'000; ++i) EXPECT_LE(backoff.next(), milliseconds(15'000));
  EXPECT_EQ(backoff.tries(), 1'000);
}

TEST(BackoffTest, ASuccessMakesItShortAgain) {
  Backoff backoff({.first = milliseconds(50), .cap = milliseconds(15'000)}, 7);
  for (int i = 0; i < 10; ++i) backoff.next();
  backoff.reset();
  EXPECT_LE(backoff.next(), milliseconds(50));
}

TEST(BackoffTest, TheSeedRepeatsTheJitter) {
  Backoff first({}, 42), second({}, 42);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(first.next(), second.next());
}

}  // namespace
}  // namespace lockstep
