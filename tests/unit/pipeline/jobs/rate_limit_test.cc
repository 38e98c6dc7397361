#include "replicator/pipeline/jobs/rate_limit.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kBegin{1h};

/// How many documents are read in so long, in pages of at most `most`, where somebody looks every so often.
std::int64_t read_in(RateLimit& limit, std::chrono::milliseconds time, std::chrono::milliseconds look,
                     std::int64_t most = 1'000'000) {
  std::int64_t all = 0;
  for (SteadyTime now = kBegin; now <= kBegin + time; now += look) {
    const std::int64_t page = std::min(limit.documents(now), most);
    if (page == 0) continue;
    limit.took(page, now);
    all += page;
    EXPECT_LE(all, std::chrono::duration<double>(now - kBegin).count() * limit.per_second() + 1e-6);
  }
  return all;
}

TEST(RateLimitTest, AtNoMomentMoreThanThatManyWereRead) {
  for (const std::int64_t per_second : {1, 3, 9, 10, 99, 500, 12'345, 1'000'000}) {
    RateLimit limit(per_second, kBegin);
    const std::int64_t all = read_in(limit, 20s, 5ms);
    EXPECT_GE(all, per_second * 18) << "it is nearly as fast as it may be: " << per_second;
  }
}

TEST(RateLimitTest, PagesThatAreSmallerComeSooner) {
  RateLimit limit(1'000, kBegin);
  EXPECT_GE(read_in(limit, 20s, 5ms, 10), 18'000);
}

TEST(RateLimitTest, TimeThatNobodyUsedIsNotMadeUpFor) {
  RateLimit limit(100, kBegin);
  EXPECT_EQ(limit.documents(kBegin), 0);
  EXPECT_EQ(limit.documents(kBegin + 1h), 10);
  limit.took(10, kBegin + 1h);
  EXPECT_EQ(limit.documents(kBegin + 1h), 0);
  EXPECT_EQ(limit.documents(kBegin + 1h + 100ms), 10);
}

}  // namespace
}  // namespace lockstep
