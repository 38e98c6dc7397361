// Who is admitted to the wire when there is one place for all.
#include "replicator/elasticsearch/bulk/bulk_wire.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

// With a window of one request, after many a 429, small changes came back to the wire before a fan-out's page
// woke up, each time, and it stood still for half a minute.
TEST(BulkWireTest, SmallRequestsLeaveTheOnlyPlaceToALargeOneThatHasWaitedHalfASecond) {
  BulkWire wire(1, 1 << 20, SlowWrites(1, 1s));
  BulkRequest request;
  request.index("posts", {1, "1", ""}, DocumentVersion(Epoch{1}, 5), "{}");
  std::uint64_t ticket = 0;
  std::atomic<int> small_ones_before{0};
  std::atomic<bool> is_in{false};

  std::optional<BulkWire::Pass> small = wire.enter(++ticket, request, BulkPriority::kNormal);
  std::jthread large([&] {
    const auto pass = wire.enter(1'000'000, request, BulkPriority::kBackground);
    is_in = true;
    wire.leave(*pass, BulkReply::Kind::kItems, 0);
  });
  EXPECT_TRUE(support::wait_until([&] { return wire.background_waiting() == 1; }, 10s));
  std::this_thread::sleep_for(600ms);
  for (int i = 0; i < 100 && !is_in; ++i) {
    wire.leave(*small, BulkReply::Kind::kItems, 0);
    small = wire.enter(++ticket, request, BulkPriority::kNormal);
    if (!is_in) ++small_ones_before;
  }
  wire.leave(*small, BulkReply::Kind::kItems, 0);
  EXPECT_EQ(small_ones_before, 0);
}

}  // namespace
}  // namespace lockstep
