#include "replicator/service/status_publisher.h"

#include <gmock/gmock.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>

#include "replicator/error.h"
#include "replicator/log/log.h"
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
    const auto open_writer = [this] {
      ++tries_;
      return std::make_unique<fake::FakeStatusWriter>(database_);
    };
    publisher_.emplace(open_writer, board_, clock_,
                       StatusPublisher::Intervals{milliseconds(1), milliseconds(5'000)},
                       StatusPublisher::Objective{keeper_ ? &*keeper_ : nullptr,
                                                  [this] { return std::make_unique<Reader>(last_); }});
  }
  /// The objective, and what the last leader has published.
  void promise(std::chrono::milliseconds lag, std::optional<PipelineStatus> last) {
    keeper_.emplace(lag);
    last_.answer = std::move(last);
  }
  void enter(PipelineState state) {
    board_.update([&](ReplicationProgress& progress) { progress.state = state; });
  }
  bool publishes(std::size_t times) {
    return wait_until([&] { return database_.published().size() >= times; }, seconds(10));
  }

  /// What a reader of the status answers: none of it, an error, or what the last leader has published.
  struct Last {
    std::atomic<bool> is_away = false;
    std::atomic<bool> is_refused = false;
    std::optional<PipelineStatus> answer;
  };
  class Reader final : public StatusReader {
   public:
    explicit Reader(const Last& last) : last_(last) {}
    std::optional<PipelineStatus> read() override {
      if (last_.is_away) throw Error({"reading the status", "it is away", "", Retry::kLater});
      if (last_.is_refused) throw Error({"reading the status", "a value is null"});
      return last_.answer;
    }

   private:
    const Last& last_;
  };

  fake::Database database_;
  std::atomic<int> tries_ = 0;  // to connect
  ProgressBoard board_;
  HandClock clock_;
  Last last_;
  std::optional<FreshnessKeeper> keeper_;
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

// Of a leader that has missed its objective for an hour, and has ended a minute ago.
PipelineStatus of_last_leader(std::chrono::milliseconds lag) {
  const WallTime begin{std::chrono::hours(500'000)};
  Freshness freshness(lag, begin);
  freshness.note(begin + std::chrono::hours(1), false);
  PipelineStatus status;
  status.leader.emplace();
  status.leader->state = kStoppedState;
  status.leader->age = std::chrono::minutes(1);
  status.leader->document = status_document({}, 0, freshness);
  return status;
}

FreshnessReport published_at(const PublishedStatus& status) {
  const WallTime now = std::chrono::system_clock::now();
  return Freshness::published(status.document, milliseconds(0), now).value().report(now).value();
}

TEST_F(StatusPublisherTest, ALeaderGoesOnWithTheNotesOfTheLastOne) {
  promise(seconds(2), of_last_leader(seconds(2)));
  last_.is_away = true;
  enter(PipelineState::kFollowing);
  start();
  publisher_.reset();
  EXPECT_FALSE(keeper_->notes()) << "they could not be read";
  last_.is_away = false;
  start();
  ASSERT_TRUE(wait_until([&] { return keeper_->notes().has_value(); }, seconds(10)));
  keeper_->note(board_.read(), clock_.now(), std::chrono::system_clock::now());
  publisher_.reset();
  const FreshnessReport report = published_at(database_.published().back());
  EXPECT_EQ(report.objective, seconds(2));
  EXPECT_GE(report.missed, std::chrono::minutes(61));
  EXPECT_LT(report.missed, std::chrono::minutes(62));
}

TEST_F(StatusPublisherTest, ALeaderPublishesNothingOverNotesThatItCannotReadYet) {
  promise(seconds(2), of_last_leader(seconds(2)));
  last_.is_away = true;
  enter(PipelineState::kFollowing);
  start();
  last_.is_away = false;
  ASSERT_TRUE(publishes(1));
  for (const PublishedStatus& status : database_.published())
    EXPECT_GE(published_at(status).missed, std::chrono::hours(1));
}

TEST_F(StatusPublisherTest, NotesThatCannotBeReadOrAreOfAnotherObjectiveBeginAnew) {
  promise(seconds(2), of_last_leader(seconds(5)));
  enter(PipelineState::kFollowing);
  start();
  ASSERT_TRUE(publishes(1));
  publisher_.reset();
  EXPECT_EQ(keeper_->notes().value().objective(), seconds(2));
  EXPECT_FALSE(keeper_->report(std::chrono::system_clock::now() - std::chrono::minutes(1)));
  last_.is_refused = true;
  keeper_.emplace(seconds(2));
  start();
  EXPECT_TRUE(wait_until([&] { return keeper_->notes().has_value(); }, seconds(10)));
}

TEST_F(StatusPublisherTest, TheNotesAloneAreNoNewsToPublish) {
  promise(seconds(2), std::nullopt);
  enter(PipelineState::kFollowing);
  start();
  ASSERT_TRUE(publishes(1));
  keeper_->note(board_.read(), clock_.now(), std::chrono::system_clock::now() + seconds(1));
  publisher_.reset();
  ASSERT_EQ(database_.published().size(), 2U) << "following, and stopped";
}

TEST_F(StatusPublisherTest, ConnectsAgainAfterTheSourceWasAway) {
  enter(PipelineState::kFollowing);
  database_.set_away(true);
  start();
  database_.set_away(false);
  EXPECT_TRUE(publishes(1));
}

TEST_F(StatusPublisherTest, SaysWhenTheStatusIsPublishedAgain) {
  testing::internal::CaptureStderr();
  start_logging(LogFormat::kText, "info");
  enter(PipelineState::kFollowing);
  database_.set_away(true);
  start();
  EXPECT_TRUE(wait_until([&] { return tries_ > 2; }, seconds(10)));
  database_.set_away(false);
  EXPECT_TRUE(publishes(1));
  publisher_.reset();
  start_logging(LogFormat::kText, "error");
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      testing::MatchesRegex("[^\n]*the status cannot be published[^\n]*\n[^\n]*the status is published "
                            "again\n"));
}

}  // namespace
}  // namespace lockstep
