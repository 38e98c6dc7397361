#include "replicator/log/repeat_filter.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace {

using std::chrono::seconds;

constexpr SteadyTime kBegin{std::chrono::hours(1)};

TEST(RepeatFilterTest, ALineComesOnceAMinuteAndSaysHowOftenItWasLeftOut) {
  RepeatFilter filter(std::chrono::minutes(1));
  EXPECT_EQ(filter.admit("away", kBegin), 0);
  EXPECT_FALSE(filter.admit("away", kBegin + seconds(1)));
  EXPECT_EQ(filter.admit("another", kBegin + seconds(1)), 0);
  EXPECT_FALSE(filter.admit("away", kBegin + seconds(59)));
  EXPECT_EQ(filter.admit("away", kBegin + seconds(60)), 2);
  EXPECT_FALSE(filter.admit("away", kBegin + seconds(61)));
  EXPECT_EQ(filter.admit("away", kBegin + seconds(121)), 1);
}

TEST(RepeatFilterTest, ItRemembersSoManyLinesAndNoMore) {
  RepeatFilter filter(std::chrono::minutes(1));
  EXPECT_EQ(filter.admit("the oldest", kBegin), 0);
  for (std::size_t i = 0; i < RepeatFilter::kMostLines; ++i)
    EXPECT_EQ(filter.admit(std::to_string(i), kBegin + seconds(1)), 0);
  EXPECT_EQ(filter.admit("the oldest", kBegin + seconds(2)), 0) << "it was forgotten";
  EXPECT_FALSE(filter.admit(std::to_string(RepeatFilter::kMostLines - 1), kBegin + seconds(2)));
}

}  // namespace
}  // namespace lockstep
