#include "replicator/elasticsearch/bulk/slow_writes.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr IndexId kPosts{1};
constexpr IndexId kUsers{2};

BulkRequest bulk_of(IndexId index, const std::string& json = "{}") {
  BulkRequest request;
  request.index("i" + std::to_string(index.value), {index, DocumentId{"1"}, ""}, DocumentVersion(Epoch{1}, 5),
                json);
  return request;
}

class SlowWritesTest : public testing::Test {
 protected:
  void send(std::uint64_t ticket, IndexId index, BulkPriority priority = BulkPriority::kNormal) {
    slow_.sent(ticket, bulk_of(index), priority, now_);
  }
  void takes(std::uint64_t ticket) { slow_.came_back(ticket, true, now_); }
  bool is_slow(IndexId index) { return slow_.is_slow(index, now_); }

  SteadyTime now_ = SteadyTime{} + seconds(100);
  SlowWrites slow_{3, seconds(1)};
};

TEST_F(SlowWritesTest, ARequestThatTakesLongMakesItsIndexSlowAndGivesItsPlace) {
  send(1, kPosts);
  EXPECT_EQ(slow_.next_change(now_), now_ + seconds(1));
  now_ += milliseconds(999);
  EXPECT_FALSE(is_slow(kPosts));
  EXPECT_FALSE(slow_.yields_slot(1, now_));
  now_ += milliseconds(1);
  EXPECT_TRUE(is_slow(kPosts));
  EXPECT_FALSE(is_slow(kUsers));
  EXPECT_TRUE(slow_.yields_slot(1, now_));
  EXPECT_EQ(slow_.places_given(BulkPriority::kNormal, now_), 1U);
  EXPECT_EQ(slow_.next_change(now_), std::nullopt);
}

TEST_F(SlowWritesTest, ASlowIndexIsOneUntilARequestOfItIsTakenInTime) {
  send(1, kPosts);
  now_ += seconds(8);
  takes(1);
  EXPECT_TRUE(is_slow(kPosts)) << "it took long";
  send(2, kPosts);
  EXPECT_TRUE(slow_.yields_slot(2, now_)) << "from the start";
  slow_.came_back(2, false, now_);
  EXPECT_TRUE(is_slow(kPosts)) << "an error comes fast";
  send(3, kPosts);
  takes(3);
  EXPECT_FALSE(is_slow(kPosts));
}

TEST_F(SlowWritesTest, AnIndexIsNamedOnceItHasBeenSlowForLongAndNotAtRest) {
  const auto named = [&] { return slow_.slow_for(seconds(8), now_); };
  send(1, kPosts);
  now_ += seconds(2);
  EXPECT_TRUE(named().empty());
  now_ += seconds(7);
  takes(1);
  EXPECT_TRUE(named().empty()) << "slow for seven seconds";
  now_ += seconds(1);
  EXPECT_EQ(named(), std::vector<IndexId>{kPosts});
  now_ += seconds(8);
  EXPECT_TRUE(named().empty()) << "nothing was written any more";
  EXPECT_TRUE(is_slow(kPosts));
}

TEST_F(SlowWritesTest, ALargeRequestMayTakeLonger) {
  slow_.sent(1, bulk_of(kPosts, "{\"text\":\"" + std::string(2UL * 1024 * 1024, 'x') + "\"}"),
             BulkPriority::kNormal, now_);
  now_ += milliseconds(2'999);
  EXPECT_FALSE(is_slow(kPosts));
  now_ += milliseconds(10);
  EXPECT_TRUE(is_slow(kPosts));
}

TEST_F(SlowWritesTest, APageOfAJobGivesItsPlaceAndMakesNoIndexSlow) {
  send(1, kPosts, BulkPriority::kBackground);
  now_ += seconds(2);
  EXPECT_TRUE(slow_.yields_slot(1, now_));
  EXPECT_EQ(slow_.places_given(BulkPriority::kBackground, now_), 1U);
  EXPECT_FALSE(is_slow(kPosts));
}

TEST_F(SlowWritesTest, WhereAllAreSlowNoneIsAndNoPlaceIsGiven) {
  SlowWrites of_two(2, seconds(1));
  of_two.sent(1, bulk_of(kPosts), BulkPriority::kNormal, now_);
  now_ += seconds(2);
  EXPECT_TRUE(of_two.yields_slot(1, now_));
  of_two.sent(2, bulk_of(kUsers), BulkPriority::kNormal, now_);
  now_ += seconds(2);
  EXPECT_FALSE(of_two.is_slow(kPosts, now_));
  EXPECT_EQ(of_two.places_given(BulkPriority::kNormal, now_), 0U);
  of_two.came_back(2, true, now_);
  of_two.sent(3, bulk_of(kUsers), BulkPriority::kNormal, now_);
  of_two.came_back(3, true, now_);
  EXPECT_TRUE(of_two.is_slow(kPosts, now_)) << "the other one is quick again";
}

// One that nothing was written to since then stood for a slow cluster, and nothing was done for it.
TEST_F(SlowWritesTest, ThatAnIndexWasSlowLongAgoDoesNotCount) {
  SlowWrites of_two(2, seconds(1));
  of_two.sent(1, bulk_of(kUsers), BulkPriority::kNormal, now_);
  now_ += seconds(2);
  of_two.came_back(1, true, now_);
  now_ += seconds(55);
  of_two.sent(2, bulk_of(kPosts), BulkPriority::kNormal, now_);
  now_ += seconds(2);
  EXPECT_FALSE(of_two.yields_slot(2, now_));
  now_ += seconds(3);
  EXPECT_TRUE(of_two.yields_slot(2, now_));
  EXPECT_TRUE(of_two.is_slow(kPosts, now_));
}

}  // namespace
}  // namespace lockstep
