#include "replicator/pipeline/intake_rate.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using namespace std::chrono_literals;

TEST(IntakeRate, IsUnknownBeforeTheFirstAnswer) {
  EXPECT_FALSE(IntakeRate().bytes_in(1s));
}

TEST(IntakeRate, IsThatOfTheFirstAnswer) {
  IntakeRate rate;
  rate.note(1'000'000, 500ms, 0);
  EXPECT_EQ(rate.bytes_in(1s), 2'000'000U);
  EXPECT_EQ(rate.bytes_in(100ms), 200'000U);
}

TEST(IntakeRate, OfRequestsSideBySideIsThatOfAllOfThem) {
  IntakeRate rate;
  rate.note(1'000'000, 1s, 2);
  EXPECT_EQ(rate.bytes_in(1s), 3'000'000U);
}

TEST(IntakeRate, FollowsWhatCameLast) {
  IntakeRate rate;
  rate.note(1'000'000, 1s, 0);
  for (int i = 0; i < 20; ++i) rate.note(1'000'000, 10s, 0);
  EXPECT_NEAR(static_cast<double>(*rate.bytes_in(1s)), 100'000, 5'000);
}

TEST(IntakeRate, IsFiniteWhereAnAnswerTakesNoTime) {
  IntakeRate rate;
  rate.note(1'000, 0us, 0);
  EXPECT_EQ(rate.bytes_in(1s), 1'000'000U);
}

}  // namespace
}  // namespace lockstep
