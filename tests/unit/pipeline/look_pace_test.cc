#include "replicator/pipeline/look_pace.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using namespace std::chrono_literals;

TEST(LookPace, ALongerRestIsLookedAtMoreRarely) {
  EXPECT_EQ(look_pace(1s, 5ms), (LookPace{5ms, 200ms}));
  EXPECT_EQ(look_pace(5s, 5ms), (LookPace{10ms, 500ms}));
  EXPECT_EQ(look_pace(10s, 5ms), (LookPace{20ms, 1s}));
  EXPECT_EQ(look_pace(20s, 5ms), (LookPace{25ms, 1s}));
  EXPECT_EQ(look_pace(24h, 5ms), (LookPace{25ms, 1s})) << "five times the configured interval, and no more";
}

TEST(LookPace, TheDelayOfAChangeIsASmallPartOfTheRestBeforeIt) {
  for (auto rest = 1'000ms; rest < 60s; rest += 7ms) {
    const auto interval = look_pace(rest, 5ms).check_every;
    EXPECT_LE(interval, std::max(rest / 500, std::chrono::milliseconds(5))) << rest.count();
    EXPECT_GE(interval, 5ms);
  }
}

TEST(LookPace, ALongIntervalThatIsConfiguredIsNotMadeLonger) {
  EXPECT_EQ(look_pace(24h, 1ms).check_every, 5ms);
  EXPECT_EQ(look_pace(24h, 30ms).check_every, 100ms);
  EXPECT_EQ(look_pace(24h, 100ms).check_every, 100ms);
  EXPECT_EQ(look_pace(24h, 60s), (LookPace{60s, 60s}));
}

}  // namespace
}  // namespace lockstep
