#include "replicator/pipeline/isolation/reading_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using support::wait_until;

class ReadingLimitTest : public testing::Test {
 protected:
  std::function<bool()> cancel() {
    return [this] { return ++cancellations_ > 0; };
  }
  bool is_cancelled(int times = 1) {
    return wait_until([&] { return cancellations_ >= times; }, 20s, 1ms);
  }

  const AppliedIndex posts_{.id = IndexId{7}, .alias = "posts", .view = "posts"};
  std::atomic<int> cancellations_ = 0;
};

TEST_F(ReadingLimitTest, WhatIsDoneInTimeIsLeftAlone) {
  ReadingLimit limit(cancel());
  int read = 0;
  for (int i = 0; i < 3; ++i) limit.run(posts_, 20s, [&] { ++read; });
  EXPECT_THROW(limit.run(posts_, 20s, [] { throw std::out_of_range("its own"); }), std::out_of_range);
  EXPECT_EQ(read, 3);
  EXPECT_EQ(cancellations_, 0);
}

TEST_F(ReadingLimitTest, WhatTakesTooLongIsCancelledAndNamesItsIndex) {
  ReadingLimit limit(cancel());
  limit.run(posts_, 20s, [] {});  // its end comes later than that of the next one
  try {
    limit.run(posts_, 5ms, [&] {
      ASSERT_TRUE(is_cancelled());
      throw std::runtime_error("the statement was cancelled");
    });
    FAIL() << "it threw nothing";
  } catch (const ViewTooSlow& error) {
    EXPECT_EQ(error.index(), posts_.id);
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), testing::StartsWith("reading documents of posts: it took longer than 5ms"));
  }
}

TEST_F(ReadingLimitTest, WhatComesToItsEndJustThenIsTooSlowAllTheSame) {
  ReadingLimit limit(cancel());
  EXPECT_THROW(limit.run(posts_, 5ms, [&] { ASSERT_TRUE(is_cancelled()); }), ViewTooSlow)
      << "the cancellation might hit the next statement of its transaction";
  const int before = cancellations_;
  limit.run(posts_, 20s, [] {});
  EXPECT_EQ(cancellations_, before);
}

TEST_F(ReadingLimitTest, ACancellationThatCameTooEarlyIsRepeated) {
  ReadingLimit limit(cancel());
  EXPECT_THROW(limit.run(posts_, 5ms, [&] { ASSERT_TRUE(is_cancelled(2)); }), ViewTooSlow);
}

TEST_F(ReadingLimitTest, WhatCannotBeCancelledIsNotLimited) {
  ReadingLimit limit([this] { return ++cancellations_ < 0; });
  bool has_read = false;
  limit.run(posts_, 0ms, [&] { has_read = is_cancelled(); });
  EXPECT_TRUE(has_read);
}

}  // namespace
}  // namespace lockstep
