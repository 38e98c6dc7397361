#include "replicator/service/status_publisher.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "replicator/service/leader_report.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_source.h"
#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;

class StatusPublisherTest : public testing::Test {
 protected:
  void start() {
    publisher_.emplace([this] { return std::make_unique<fake::FakeStatusWriter>(database_); }, board_, clock_,
                       StatusPublisher::Intervals{milliseconds(1), milliseconds(5'000)});
  }
  void enter(PipelineState state) {
    board_.update([&](ReplicationProgress& progress) { progress.state = state; });
  }
  bool publishes(std::size_t times) {
    return wait_until([&] { return database_.published().size() >= times; }, seconds(10));
  }

  fake::Database database_;
  ProgressBoard board_;
  HandClock clock_;
  std::optional<StatusPublisher> publisher_;
};

TEST_F(StatusPublisherTest, TellsWhatChangesAndBeatsWhenNothingDoes) {
  board_.update([](ReplicationProgress& progress) {
    progress.state = PipelineState::kFollowing;
    progress.indices[IndexId{1}] = {.alias = "posts", .documents = 5};
  });
  start();
  ASSERT_TRUE(publishes(1));
  EXPECT_EQ(database_.published()[0].state, "following");
  EXPECT_EQ(nlohmann::json::parse(database_.published()[0].document)["indices"]["posts"]["documents"], 5);
  board_.update([](ReplicationProgress& progress) { progress.indices[IndexId{1}].documents = 6; });
  ASSERT_TRUE(publishes(2));
  EXPECT_EQ(nlohmann::json::parse(database_.published()[1].document)["indices"]["posts"]["documents"], 6);
  clock_.move(seconds(6));
  EXPECT_TRUE(publishes(3)) << "the heartbeat";
}

TEST_F(StatusPublisherTest, OneThatStandsByKeepsSilent) {
  enter(PipelineState::kStandingBy);
  start();
  publisher_.reset();
  EXPECT_TRUE(database_.published().empty());
  EXPECT_EQ(database_.connections(), 0);
}

TEST_F(StatusPublisherTest, ALeaderSaysThatItStops) {
  enter(PipelineState::kBackfilling);
  start();
  ASSERT_TRUE(publishes(1));
  publisher_.reset();
  EXPECT_EQ(database_.published().back().state, kStoppedState);
}

TEST_F(StatusPublisherTest, ALeaderThatStopsAtOnceSaysWhyAllTheSame) {
  board_.update([](ReplicationProgress& progress) {
    progress.state = PipelineState::kConnecting;
    progress.reason = "too many are refused";
    progress.epoch = Epoch{3};
  });
  start();
  publisher_.reset();
  ASSERT_EQ(database_.published().size(), 1U);
  EXPECT_EQ(database_.published()[0].state, kStoppedState);
  EXPECT_EQ(database_.published()[0].reason, "too many are refused");
}

TEST_F(StatusPublisherTest, AProcessThatDiesBeforeItLeadsSaysWhy) {
  board_.update([](ReplicationProgress& progress) { progress.reason = progress.fatal = "a value is null"; });
  start();
  publisher_.reset();
  ASSERT_EQ(database_.published().size(), 1U);
  EXPECT_EQ(database_.published()[0].state, kStoppedState);
  EXPECT_EQ(database_.published()[0].reason, "a value is null");
}

TEST_F(StatusPublisherTest, AProcessThatDiesBesideALeaderLeavesTheLeadersStatus) {
  database_.set_led_elsewhere(true);
  board_.update([](ReplicationProgress& progress) { progress.reason = progress.fatal = "a value is null"; });
  start();
  publisher_.reset();
  EXPECT_TRUE(database_.published().empty());
}

TEST_F(StatusPublisherTest, ConnectsAgainAfterTheSourceWasAway) {
  enter(PipelineState::kFollowing);
  database_.set_away(true);
  start();
  database_.set_away(false);
  EXPECT_TRUE(publishes(1));
}

}  // namespace
}  // namespace lockstep
