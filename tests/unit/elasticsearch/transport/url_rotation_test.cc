#include "replicator/elasticsearch/transport/url_rotation.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

const SteadyTime kStart = SteadyTime{} + std::chrono::hours(1);

TEST(UrlRotation, TakesServersInTurnFromTheFirst) {
  UrlRotation rotation(3, 4);
  EXPECT_EQ(rotation.next(kStart), 1u);
  EXPECT_EQ(rotation.next(kStart), 2u);
  EXPECT_EQ(rotation.next(kStart), 0u);
  EXPECT_EQ(rotation.next(kStart), 1u);
}

TEST(UrlRotation, LeavesASilentServerAloneForAMoment) {
  UrlRotation rotation(2, 0);
  rotation.silent(0, kStart);
  EXPECT_EQ(rotation.next(kStart), 1u);
  EXPECT_EQ(rotation.next(kStart), 1u);
  EXPECT_EQ(rotation.next(kStart + UrlRotation::kRest), 0u);
}

TEST(UrlRotation, AsksTheOneThatHasRestedLongestWhenAllAreSilent) {
  UrlRotation rotation(3, 0);
  rotation.silent(1, kStart);
  rotation.silent(0, kStart + std::chrono::seconds(1));
  rotation.silent(2, kStart + std::chrono::seconds(2));
  EXPECT_EQ(rotation.next(kStart + std::chrono::seconds(2)), 1u);
  rotation.silent(1, kStart + std::chrono::seconds(3));
  EXPECT_EQ(rotation.next(kStart + std::chrono::seconds(3)), 0u);
}

TEST(UrlRotation, AServerThatAnswersAgainIsTakenInTurnAgain) {
  UrlRotation rotation(2, 0);
  rotation.silent(0, kStart);
  rotation.answered(0);
  EXPECT_EQ(rotation.next(kStart), 0u);
  EXPECT_EQ(rotation.next(kStart), 1u);
}

TEST(UrlRotation, ASingleServerIsAlwaysAsked) {
  UrlRotation rotation(1, 7);
  rotation.silent(0, kStart);
  EXPECT_EQ(rotation.next(kStart), 0u);
}

}  // namespace
}  // namespace lockstep
