#include "replicator/service/leadership_loop.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "replicator/log/log_repeats.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/source/source_absent.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_source.h"
#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;

class LeadershipLoopTest : public testing::Test {
 protected:
  using Replicate = std::function<void(Source&, const std::stop_token&)>;

  LeadershipLoop loop(Replicate replicate) {
    return LeadershipLoop({.open_source = [this] { return std::make_unique<fake::FakeSource>(database_); },
                           .replicate = std::move(replicate),
                           .reloaded = [this] { return reloads_.exchange(false); },
                           .reconnect = {milliseconds(1), milliseconds(2)},
                           .standby_poll = milliseconds(1)},
                          board_, clock_);
  }

  LeadershipLoop service(Replicate replicate) {
    return LeadershipLoop({.open_source = [this] { return std::make_unique<fake::FakeSource>(database_); },
                           .replicate = std::move(replicate),
                           .reloaded = [this] { return reloads_.exchange(false); },
                           .reconnect = {milliseconds(1), milliseconds(2)},
                           .refused = refused_,
                           .standby_poll = milliseconds(1),
                           .on_refusal = LeadershipLoop::Parts::OnRefusal::kKeepTrying},
                          board_, clock_);
  }

  // Elasticsearch refuses it until it is granted something.
  LeadershipLoop refused_service(const std::atomic<bool>& is_granted) {
    return service([&](Source&, const std::stop_token&) {
      if (!is_granted)
        throw Error(
            {"reading an index", "HTTP 401", "check the credentials", Retry::kNever, Server::kElasticsearch});
    });
  }

  void has_been_up() {
    board_.update([](ReplicationProgress& progress) { progress.epoch = Epoch{1}; });
  }

  bool enters(PipelineState state) {
    return wait_until([&] { return board_.read().state == state; }, seconds(10));
  }

  fake::Database database_;
  ProgressBoard board_;
  HandClock clock_;
  std::stop_source stop_;
  std::atomic<bool> reloads_ = false;
  Backoff::Limits refused_{milliseconds(1), milliseconds(2)};
};

TEST_F(LeadershipLoopTest, LeadsAndReturnsWhenReplicationIsDone) {
  int led = 0;
  loop([&](Source&, const std::stop_token&) { ++led; }).run(stop_.get_token());
  EXPECT_EQ(led, 1);
}

TEST_F(LeadershipLoopTest, ConnectsAgainWhenTheSourceIsBack) {
  database_.set_away(true);
  std::jthread run([&] { loop([](Source&, const std::stop_token&) {}).run(stop_.get_token()); });
  EXPECT_TRUE(enters(PipelineState::kWaitingForSource));
  EXPECT_EQ(board_.read().reason, "asking the source: it is away");
  database_.set_away(false);
  run.join();
}

TEST_F(LeadershipLoopTest, SaysWhomReplicationWaitsFor) {
  std::atomic<bool> works = false;
  std::jthread run([&] {
    loop([&](Source&, const std::stop_token&) {
      if (!works) throw Error({"asking Elasticsearch", "refused", "", Retry::kLater, Server::kElasticsearch});
    }).run(stop_.get_token());
  });
  EXPECT_TRUE(enters(PipelineState::kWaitingForElasticsearch));
  works = true;
}

TEST_F(LeadershipLoopTest, WhoWaitsForElasticsearchOutsideOfTheLeadDoesNotSayThatItLeads) {
  std::jthread run([&] {
    LeadershipLoop(
        {.open_source = [this] { return std::make_unique<fake::FakeSource>(database_); },
         .replicate =
             [&](Source&, const std::stop_token&) {
               board_.update(
                   [](ReplicationProgress& progress) { progress.lag_known_at = SteadyTime::clock::now(); });
               throw Error({"asking Elasticsearch", "refused", "", Retry::kLater, Server::kElasticsearch});
             },
         .reconnect = {std::chrono::hours(1), std::chrono::hours(1)}},
        board_, clock_)
        .run(stop_.get_token());
  });
  EXPECT_TRUE(enters(PipelineState::kWaitingForElasticsearch));
  EXPECT_FALSE(board_.read().leads) << "its connection is closed";
  EXPECT_EQ(board_.read().lag_known_at, SteadyTime{}) << "another one has to measure it";
  stop_.request_stop();
}

TEST_F(LeadershipLoopTest, WhatCannotBeTriedAgainEndsIt) {
  EXPECT_THROW(loop([](Source&, const std::stop_token&) {
                 throw Error({"creating an index", "forbidden"});
               }).run(stop_.get_token()),
               Error);
  EXPECT_EQ(board_.read().reason, "creating an index: forbidden");
  EXPECT_THROW(
      loop([](Source&, const std::stop_token&) { throw UsageError("never applied"); }).run(stop_.get_token()),
      UsageError);
}

TEST_F(LeadershipLoopTest, WhateverEndsItIsNotedWithWhetherItLed) {
  EXPECT_THROW(loop([](Source&, const std::stop_token&) {
                 throw std::runtime_error("no text");
               }).run(stop_.get_token()),
               std::runtime_error);
  EXPECT_EQ(board_.read().fatal, "no text");
  EXPECT_TRUE(board_.read().leads);
  LeadershipLoop broken({.open_source = []() -> std::unique_ptr<Source> {
                           throw Error({"loading the pipeline", "a value is null"});
                         },
                         .replicate = [](Source&, const std::stop_token&) {}},
                        board_, clock_);
  EXPECT_THROW(broken.run(stop_.get_token()), Error);
  EXPECT_EQ(board_.read().fatal, "loading the pipeline: a value is null");
  EXPECT_FALSE(board_.read().leads);
}

TEST_F(LeadershipLoopTest, AServiceWithAWrongPasswordTriesAgainInsteadOfEnding) {
  std::atomic<bool> is_granted = false;
  has_been_up();
  std::jthread run([&] { refused_service(is_granted).run(stop_.get_token()); });
  EXPECT_TRUE(enters(PipelineState::kWaitingForElasticsearch));
  EXPECT_EQ(board_.read().reason, "reading an index: HTTP 401; check the credentials");
  is_granted = true;
}

TEST_F(LeadershipLoopTest, AServiceThatIsRefusedBeforeItWasUpEndsAsWronglyConfigured) {
  const std::atomic<bool> is_granted = false;
  EXPECT_THROW(refused_service(is_granted).run(stop_.get_token()), UsageError);
  EXPECT_EQ(board_.read().fatal, "reading an index: HTTP 401; check the credentials");
}

TEST_F(LeadershipLoopTest, AServiceThatHasBeenUpWaitsForASourceThatIsAbsent) {
  std::atomic<bool> is_there = false;
  const auto service = [&] {
    return LeadershipLoop({.open_source = [&]() -> std::unique_ptr<Source> {
                             if (!is_there) throw SourceAbsent("there is no file app.db");
                             return std::make_unique<fake::FakeSource>(database_);
                           },
                           .replicate = [](Source&, const std::stop_token&) {},
                           .reconnect = {milliseconds(1), milliseconds(2)},
                           .on_refusal = LeadershipLoop::Parts::OnRefusal::kKeepTrying},
                          board_, clock_);
  };
  EXPECT_THROW(service().run(stop_.get_token()), UsageError) << "its start fails";
  EXPECT_EQ(board_.read().fatal, "there is no file app.db");
  has_been_up();
  std::jthread run([&] { service().run(stop_.get_token()); });
  EXPECT_TRUE(enters(PipelineState::kWaitingForSource));
  EXPECT_EQ(board_.read().reason, "there is no file app.db");
  is_there = true;
}

TEST_F(LeadershipLoopTest, AReloadEndsThePauseOfAServiceThatIsRefused) {
  std::atomic<bool> is_granted = false;
  has_been_up();
  refused_ = {std::chrono::hours(1), std::chrono::hours(1)};
  std::jthread run([&] { refused_service(is_granted).run(stop_.get_token()); });
  EXPECT_TRUE(enters(PipelineState::kWaitingForElasticsearch));
  is_granted = true;
  reloads_ = true;
  run.join();
}

TEST_F(LeadershipLoopTest, AReloadBeginsANewRound) {
  std::atomic<int> rounds = 0;
  loop([&](Source&, const std::stop_token&) { reloads_ = ++rounds == 1; }).run(stop_.get_token());
  EXPECT_EQ(rounds, 2);
  EXPECT_EQ(database_.connections(), 2) << "each round connects with the configuration in force";
}

TEST_F(LeadershipLoopTest, StandsByAndTakesOverWhenTheLeaderDies) {
  database_.set_led_elsewhere(true);
  std::atomic<int> led = 0;
  std::jthread run([&] { loop([&](Source&, const std::stop_token&) { ++led; }).run(stop_.get_token()); });
  EXPECT_TRUE(enters(PipelineState::kStandingBy));
  EXPECT_EQ(led, 0);
  database_.set_led_elsewhere(false);
  run.join();
  EXPECT_EQ(led, 1);
  EXPECT_EQ(database_.connections(), 1) << "the lead is taken on the connection that stood by";
}

TEST_F(LeadershipLoopTest, ADeposedLeaderStandsByAgain) {
  std::atomic<int> led = 0;
  std::jthread run([&] {
    loop([&](Source&, const std::stop_token&) {
      if (++led == 1) {
        database_.set_led_elsewhere(true);
        throw Deposed("the epoch has passed");
      }
    }).run(stop_.get_token());
  });
  EXPECT_TRUE(
      wait_until([&] { return led == 1 && board_.read().state == PipelineState::kStandingBy; }, seconds(10)));
  database_.set_led_elsewhere(false);
  run.join();
  EXPECT_EQ(led, 2);
}

TEST_F(LeadershipLoopTest, StopsWhileItStandsByOrWaits) {
  for (const auto trouble : {&fake::Database::set_led_elsewhere, &fake::Database::set_away}) {
    (database_.*trouble)(true);
    std::stop_source stop;
    std::jthread run([&] { loop([](Source&, const std::stop_token&) { FAIL(); }).run(stop.get_token()); });
    EXPECT_TRUE(wait_until([&] { return board_.read().state != PipelineState::kConnecting; }, seconds(10)));
    stop.request_stop();
    run.join();
    (database_.*trouble)(false);
  }
}

TEST_F(LeadershipLoopTest, AnOutageSoonAfterAShortOneIsLoggedToo) {
  testing::internal::CaptureStderr();
  start_logging(LogFormat::kJson, "info", milliseconds(200));
  std::atomic<int> round = 0;
  const SteadyTime begin = std::chrono::steady_clock::now();
  loop([&](Source&, const std::stop_token&) {
    if (++round == 2) board_.update([](auto& progress) { progress.state = PipelineState::kFollowing; });
    if (round == 1 || std::chrono::steady_clock::now() - begin < milliseconds(300))
      throw Error({"reading the outbox", "it is away", "", Retry::kLater, Server::kSource});
  }).run(stop_.get_token());
  start_logging(LogFormat::kText, "error");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("it is away; trying again until it works\""),
                             testing::HasSubstr("it is away; trying again until it works (and ")))
      << "in " << round << " rounds";
}

// It was a warning, "trying again until it works", at each `apply`.
TEST_F(LeadershipLoopTest, AChangedPipelineIsReloadedAndNoTrouble) {
  testing::internal::CaptureStderr();
  start_logging(LogFormat::kJson, "info", milliseconds(200));
  int round = 0;
  loop([&](Source&, const std::stop_token&) {
    if (++round == 1) throw PipelineChanged("`apply` has changed the pipeline");
  }).run(stop_.get_token());
  start_logging(LogFormat::kText, "error");
  EXPECT_EQ(round, 2);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("`apply` has changed the pipeline: reloading"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("warn")));
}

// A service manager does not start again what has ended with 2, and so the first `apply` that added an index
// stopped all of them.
TEST_F(LeadershipLoopTest, AnApplyThatOurConfigurationIsTooOldForIsNoWrongUsage) {
  int round = 0;
  has_been_up();
  LeadershipLoop loop = service([&](Source&, const std::stop_token&) {
    if (++round == 1) throw PipelineChanged("`apply` has changed the pipeline");
    throw OtherIndices("the indices are not those of the last `lockstep apply`");
  });
  EXPECT_THROW(loop.run(stop_.get_token()), Error);
  EXPECT_EQ(round, 2);
}

TEST_F(LeadershipLoopTest, AnOutageThatLastsIsLoggedOnce) {
  testing::internal::CaptureStderr();
  start_logging(LogFormat::kJson, "info", milliseconds(1));
  int round = 0;
  loop([&](Source&, const std::stop_token&) {
    if (++round < 20) throw Error({"reading the outbox", "it is away", "", Retry::kLater, Server::kSource});
  }).run(stop_.get_token());
  start_logging(LogFormat::kText, "error");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(LeadershipLoopTest, ARequestToStopReachesReplication) {
  std::jthread run([&] {
    loop([](Source&, const std::stop_token& stop) {
      EXPECT_TRUE(wait_until([&] { return stop.stop_requested(); }, seconds(10)));
    }).run(stop_.get_token());
  });
  stop_.request_stop();
}

}  // namespace
}  // namespace lockstep
