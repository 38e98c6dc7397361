#include "replicator/service/watched_status.h"

#include <gtest/gtest.h>

#include <atomic>

#include "replicator/error.h"
#include "tests/support/eventually.h"
#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;

class WatchedStatusTest : public testing::Test {
 protected:
  class Reader final : public StatusReader {
   public:
    explicit Reader(WatchedStatusTest& test) : test_(test) { ++test_.opened_; }
    ~Reader() override { ++test_.closed_; }
    std::optional<PipelineStatus> read() override {
      ++test_.read_;
      if (test_.is_away_) throw Error({"reading\nthe status", "the source is away"});
      PipelineStatus status;
      status.epoch = Epoch{test_.read_};
      return status;
    }

   private:
    WatchedStatusTest& test_;
  };

  std::atomic<int> opened_ = 0, closed_ = 0, read_ = 0;
  std::atomic<bool> is_away_ = false;
  HandClock clock_;
  WatchedStatus watched_{
      [this] { return std::make_unique<Reader>(*this); }, clock_, {milliseconds(1), seconds(10)}};
};

TEST_F(WatchedStatusTest, ItAsksOnlyWhileSomebodyLooks) {
  EXPECT_EQ(opened_, 0);
  EXPECT_FALSE(watched_.look().is_known) << "a look waits for nobody";
  EXPECT_TRUE(wait_until([&] { return watched_.look().status.has_value(); }, seconds(10)));
  clock_.move(seconds(11));
  EXPECT_TRUE(wait_until([&] { return closed_ == 1; }, seconds(10))) << "the connection goes, too";
  const int read = read_;
  EXPECT_TRUE(wait_until([&] { return watched_.look().is_known && read_ > read; }, seconds(10)));
  EXPECT_EQ(opened_, 2);
}

TEST_F(WatchedStatusTest, WhileTheSourceIsAwayItKeepsWhatItKnewAndSaysWhy) {
  EXPECT_TRUE(wait_until([&] { return watched_.look().status.has_value(); }, seconds(10)));
  is_away_ = true;
  EXPECT_TRUE(wait_until([&] { return !watched_.look().trouble.empty(); }, seconds(10)));
  const WatchedStatus::Look look = watched_.look();
  EXPECT_TRUE(look.status);
  EXPECT_EQ(look.trouble.find('\n'), std::string::npos);
  EXPECT_NE(look.trouble.find("the source is away"), std::string::npos);
  is_away_ = false;
  EXPECT_TRUE(wait_until([&] { return watched_.look().trouble.empty(); }, seconds(10)));
}

}  // namespace
}  // namespace lockstep
