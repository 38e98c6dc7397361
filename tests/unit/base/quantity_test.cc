#include "replicator/quantity.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using std::chrono::milliseconds;

TEST(QuantityTest, DurationsHaveAUnit) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("10s"), milliseconds(10'000));
  EXPECT_EQ(parse_duration("5m"), milliseconds(300'000));
  EXPECT_EQ(parse_duration("2h"), milliseconds(7'200'000));
  EXPECT_EQ(parse_duration("7d"), std::chrono::hours(7 * 24));
  for (const char* wrong :
       {"", "10", "s", "-1s", "1.5s", "10 s", "10S", "1w", "9223372036854775807h", "99999999999999999999s"}) {
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
  }
}

TEST(QuantityTest, SizesHaveABinaryUnit) {
  EXPECT_EQ(parse_size("100B"), 100);
  EXPECT_EQ(parse_size("2MiB"), 2 * 1024 * 1024);
  EXPECT_EQ(parse_size("1GiB"), 1024 * 1024 * 1024);
  for (const char* wrong : {"", "2MB", "2", "2mib", "9223372036854775807KiB"})
    EXPECT_FALSE(parse_size(wrong)) << wrong;
}

TEST(QuantityTest, TextsUseTheGreatestUnitThatDivides) {
  EXPECT_EQ(duration_text(milliseconds(10'000)), "10s");
  EXPECT_EQ(duration_text(milliseconds(1'500)), "1500ms");
  EXPECT_EQ(duration_text(milliseconds(0)), "0ms");
  EXPECT_EQ(duration_text(std::chrono::hours(1)), "1h");
  EXPECT_EQ(size_text(2 * 1024 * 1024), "2MiB");
  EXPECT_EQ(size_text(1'000), "1000B");
}

TEST(QuantityTest, NumbersAreGroupedByThree) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(-1'234'567), "-1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
}

// "1 indices, 2 jobs", said the log.
TEST(QuantityTest, OneThingIsNotSeveral) {
  EXPECT_EQ(counted(0, "job"), "0 jobs");
  EXPECT_EQ(counted(1, "job"), "1 job");
  EXPECT_EQ(counted(2'000, "job"), "2,000 jobs");
  EXPECT_EQ(counted(1, "index", "indices"), "1 index");
  EXPECT_EQ(counted(2, "index", "indices"), "2 indices");
}

}  // namespace
}  // namespace lockstep
