#include "replicator/source/sqlite/read/first_seen.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using namespace std::chrono_literals;

TEST(FirstSeenTest, ARowIsAsOldAsTheFirstLookThatSawIt) {
  FirstSeen seen;
  const SteadyTime begin{};
  seen.note(3, begin);
  seen.note(3, begin + 1s);
  seen.note(5, begin + 2s);
  EXPECT_EQ(seen.age(1, begin + 10s), 10s);
  EXPECT_EQ(seen.age(4, begin + 10s), 8s);
  EXPECT_EQ(seen.age(6, begin + 10s), 0s) << "nobody has seen it";
  seen.forget(3);
  EXPECT_EQ(seen.age(4, begin + 10s), 8s);
}

TEST(FirstSeenTest, ManyLooksKeepTheOldestAndTheNewest) {
  FirstSeen seen;
  const SteadyTime begin{};
  for (int i = 1; i <= 1000; ++i) seen.note(i, begin + i * 1s);
  EXPECT_EQ(seen.age(1, begin + 2000s), 1999s);
  EXPECT_EQ(seen.age(1000, begin + 2000s), 1000s);
  EXPECT_LE(seen.age(500, begin + 2000s), 1500s) << "never older than it is";
}

}  // namespace
}  // namespace lockstep
