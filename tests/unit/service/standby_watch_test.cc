#include "replicator/service/standby_watch.h"

#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "replicator/error.h"
#include "replicator/service/leader_report.h"
#include "tests/support/eventually.h"
#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;

/// What the source says; none: it is away.
class FakeStatus {
 public:
  void say(std::optional<PipelineStatus> status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }
  std::optional<PipelineStatus> answer() {
    const std::lock_guard lock(mutex_);
    ++asked_;
    if (!status_) throw Error({"reading the status", "the source is away"});
    return status_;
  }
  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::optional<PipelineStatus> status_;
  int asked_ = 0;
};

class Reader final : public StatusReader {
 public:
  explicit Reader(FakeStatus& source) : source_(source) {}
  std::optional<PipelineStatus> read() override { return source_.answer(); }

 private:
  FakeStatus& source_;
};

class StandbyWatchTest : public testing::Test {
 protected:
  void start() {
    watch_.emplace([this] { return std::make_unique<Reader>(source_); }, board_, clock_,
                   StandbyWatch::Intervals{milliseconds(1), seconds(5)});
  }
  void enter(PipelineState state) {
    board_.update([&](ReplicationProgress& progress) { progress.state = state; });
  }
  bool looks_twice() {
    const int before = source_.asked();
    return wait_until([&] { return source_.asked() >= before + 2; }, seconds(10));
  }
  bool says(const std::string& unled) {
    return wait_until([&] { return board_.read().unled.find(unled) != std::string::npos; }, seconds(10));
  }

  static PipelineStatus led(std::chrono::milliseconds heard) {
    PipelineStatus status;
    status.pending_rows = 3;
    status.pending_age = seconds(40);
    status.outbox_bytes = 4096;
    status.max_outbox_bytes = 8192;
    LeaderReport leader;
    leader.state = "following";
    leader.host = "one";
    leader.pid = 7;
    leader.age = heard;
    leader.document = R"({"warnings": ["a trigger is missing"]})";
    status.leader = leader;
    IndexStatus posts;
    posts.id = IndexId{1};
    posts.alias = "posts";
    posts.dead_letters = 2;
    status.indices = {posts};
    return status;
  }

  FakeStatus source_;
  ProgressBoard board_;
  HandClock clock_;
  std::optional<StandbyWatch> watch_;
};

TEST_F(StandbyWatchTest, TellsHowThePipelineIs) {
  source_.say(led(seconds(1)));
  enter(PipelineState::kStandingBy);
  start();
  ASSERT_TRUE(wait_until([&] { return board_.read().pending; }, seconds(10)));
  EXPECT_EQ(board_.read().lag, seconds(40));
  EXPECT_EQ(board_.read().outbox_bytes, 4096);
  EXPECT_EQ(board_.read().outbox_max_bytes, 8192);
  EXPECT_EQ(board_.read().indices.at(IndexId{1}).dead_letters, 2);
  EXPECT_EQ(board_.read().warnings, std::vector<std::string>{"a trigger is missing"});
  EXPECT_EQ(board_.read().unled, "");
}

TEST_F(StandbyWatchTest, AnIndexThatThePipelineNoLongerHasEnds) {
  board_.update([](ReplicationProgress& progress) { progress.indices[IndexId{7}].alias = "posts-000002"; });
  source_.say(led(seconds(1)));
  enter(PipelineState::kStandingBy);
  start();
  ASSERT_TRUE(wait_until([&] { return board_.read().pending; }, seconds(10)));
  EXPECT_FALSE(board_.read().indices.contains(IndexId{7}));
}

TEST_F(StandbyWatchTest, TellsWhatTheLeaderWaitsFor) {
  PipelineStatus status = led(seconds(1));
  status.leader->state = "waiting_for_elasticsearch";
  status.leader->reason = "connection refused";
  source_.say(status);
  enter(PipelineState::kStandingBy);
  start();
  ASSERT_TRUE(wait_until([&] { return board_.read().leader_state.has_value(); }, seconds(10)));
  EXPECT_EQ(board_.read().leader_state, PipelineState::kWaitingForElasticsearch);
  EXPECT_EQ(board_.read().leader_reason, "connection refused");
  source_.say(led(kSilentAfter + seconds(1)));
  EXPECT_TRUE(wait_until([&] { return !board_.read().leader_state; }, seconds(10)));
}

TEST_F(StandbyWatchTest, SaysAfterAWhileThatNobodyLeads) {
  source_.say(led(kSilentAfter + seconds(1)));
  enter(PipelineState::kStandingBy);
  start();
  ASSERT_TRUE(looks_twice());
  EXPECT_EQ(board_.read().unled, "") << "another one may be about to lead";
  clock_.move(seconds(6));
  EXPECT_TRUE(says("one, process 7, has not reported for 11"));
  source_.say(led(seconds(1)));
  EXPECT_TRUE(wait_until([&] { return board_.read().unled.empty(); }, seconds(10)));
}

TEST_F(StandbyWatchTest, TellsHowWellTheLeaderMeetsItsObjective) {
  PipelineStatus status = led(seconds(1));
  Freshness freshness(seconds(2), WallTime(std::chrono::hours(500'000)));
  freshness.note(WallTime(std::chrono::hours(500'001)), false);
  status.leader->document = status_document({}, 0, freshness);
  source_.say(status);
  enter(PipelineState::kStandingBy);
  start();
  ASSERT_TRUE(wait_until([&] { return board_.read().freshness.has_value(); }, seconds(10)));
  EXPECT_EQ(board_.read().freshness->objective, seconds(2));
  EXPECT_EQ(board_.read().freshness->missed, std::chrono::hours(1));
}

TEST_F(StandbyWatchTest, SaysThatItCannotKnow) {
  enter(PipelineState::kStandingBy);
  start();
  ASSERT_TRUE(looks_twice());
  clock_.move(seconds(6));
  EXPECT_TRUE(says("the pipeline's status cannot be read: reading the status: the source is away"));
}

// Else the metrics say 0, or what they said when another process led, while changes pile up.
TEST_F(StandbyWatchTest, WhoWaitsForElasticsearchBeforeItFollowsTellsTheLagOfTheSource) {
  source_.say(led(seconds(1)));
  board_.update([](ReplicationProgress& progress) { progress.lag = seconds(29); });
  enter(PipelineState::kWaitingForElasticsearch);
  start();
  ASSERT_TRUE(wait_until([&] { return board_.read().pending; }, seconds(10)));
  EXPECT_EQ(board_.read().lag, seconds(40));
  EXPECT_EQ(board_.read().outbox_bytes, 4096);
  EXPECT_EQ(board_.read().warnings, std::vector<std::string>{}) << "they may be its own, of a while ago";
}

TEST_F(StandbyWatchTest, WhoHasTheLeadAndHearsNothingOfElasticsearchTellsTheLagToo) {
  source_.say(led(kSilentAfter + seconds(1)));
  board_.update([](ReplicationProgress& progress) { progress.leads = true; });
  enter(PipelineState::kStandingBy);
  start();
  ASSERT_TRUE(wait_until([&] { return board_.read().pending; }, seconds(10)));
  clock_.move(seconds(6));
  ASSERT_TRUE(looks_twice());
  EXPECT_EQ(board_.read().unled, "") << "it leads itself";
}

TEST_F(StandbyWatchTest, AsksNothingWhileThisProcessFollows) {
  source_.say(led(seconds(1)));
  enter(PipelineState::kWaitingForElasticsearch);
  board_.update([&](ReplicationProgress& progress) { progress.lag_known_at = clock_.now(); });
  start();
  watch_.reset();
  EXPECT_EQ(source_.asked(), 0);
  EXPECT_FALSE(board_.read().pending);
}

}  // namespace
}  // namespace lockstep
