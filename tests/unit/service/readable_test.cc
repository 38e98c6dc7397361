#include "replicator/service/readable.h"

#include <gtest/gtest.h>

#include "replicator/service/rate_meter.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

TEST(ReadableTest, SizesHaveOneDigitAndAUnit) {
  EXPECT_EQ(readable_size(0), "0 B");
  EXPECT_EQ(readable_size(1'023), "1023 B");
  EXPECT_EQ(readable_size(1'536), "1.5 KiB");
  EXPECT_EQ(readable_size(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(readable_size(std::int64_t{5} << 40), "5.0 TiB");
  EXPECT_EQ(readable_size(std::int64_t{5000} << 40), "5000.0 TiB");
}

TEST(ReadableTest, DurationsHaveTwoUnitsAtMost) {
  EXPECT_EQ(readable(0ms), "0 ms");
  EXPECT_EQ(readable(999'999us), "999 ms");
  EXPECT_EQ(readable(3'450ms), "3.4 s");
  EXPECT_EQ(readable(59'999ms), "59.9 s");
  EXPECT_EQ(readable(125s), "2 min 5 s");
  EXPECT_EQ(readable(3h + 12min), "3 h 12 min");
  EXPECT_EQ(readable(102h), "4 d 6 h");
}

TEST(ReadableTest, TheTimeLeftOfASettingIsShownAsItIsSet) {
  EXPECT_EQ(readable_left(7 * 24h - 200ms), "7 d");
  EXPECT_EQ(readable_left(7 * 24h), "7 d");
  EXPECT_EQ(readable_left(6 * 24h + 22h), "6 d 22 h");
  EXPECT_EQ(readable_left(24h - 1s), "1 d");
  EXPECT_EQ(readable_left(1h - 1s), "1 h");
  EXPECT_EQ(readable_left(90min), "1 h 30 min");
  EXPECT_EQ(readable_left(125s), "2 min 5 s");
  EXPECT_EQ(readable_left(30s - 1ms), "30 s");
}

TEST(ReadableTest, SlowRatesHaveADigitAfterThePoint) {
  EXPECT_EQ(rate_text(0), "0/s");
  EXPECT_EQ(rate_text(0.34), "0.3/s");
  EXPECT_EQ(rate_text(9.96), "10/s");
  EXPECT_EQ(rate_text(3'400.4), "3,400/s");
}

TEST(RateMeterTest, MeasuresOverTheWindow) {
  RateMeter rate(10s);
  const SteadyTime start{};
  EXPECT_EQ(rate.per_second(), 0);
  rate.add(start, 100);
  EXPECT_EQ(rate.per_second(), 0);
  rate.add(start + 2s, 300);
  EXPECT_EQ(rate.per_second(), 100);
  for (int second = 3; second <= 30; ++second) rate.add(start + std::chrono::seconds(second), 300);
  EXPECT_EQ(rate.per_second(), 0) << "what was before the window is forgotten";
  rate.add(start + 31s, 200);
  EXPECT_EQ(rate.per_second(), 0) << "an index has ended, and its documents went with it";
}

}  // namespace
}  // namespace lockstep
