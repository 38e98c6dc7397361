#include "replicator/pipeline/waiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "replicator/source/source_absent.h"
#include "tests/unit/pipeline/fake_watch.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = AppliedState::Kind;

// Of a wait whose pipeline somebody leads.
const Waiter::Words kLed{[] {
                           ADD_FAILURE() << "asked why nobody leads";
                           return std::string();
                         },
                         [] { return std::string("reading takes long"); }};

class WaiterTest : public testing::Test {
 protected:
  WaitAnswer wait(const WaitRequest& request) {
    return waiter_.wait(
        request, [this](const std::string& reason) { told_.push_back(reason); }, stop_.get_token());
  }

  WatchScript script_{{{Kind::kPending, "changes are pending"}}};
  World world_;
  std::stop_source stop_;
  std::vector<std::string> told_;
  std::string leader_waits_;
  Waiter waiter_{[this] { return std::make_unique<ScriptedWatch>(script_); },
                 world_.elasticsearch.transports(),
                 {world_.pipeline.name, {"posts", "files"}},
                 20s,
                 {[] { return "nobody leads: one waits"; }, [this] { return leader_waits_; }}};
};

TEST_F(WaiterTest, ItPausesForATenthOfWhatItHasWaited) {
  EXPECT_EQ(pause_after(0ms), 2ms);
  EXPECT_EQ(pause_after(50ms), 5ms);
  EXPECT_EQ(pause_after(10min), 100ms);
}

TEST_F(WaiterTest, ItLooksUntilItIsApplied) {
  WatchScript script({{Kind::kPending, "a"}, {Kind::kPending, "b"}, {Kind::kApplied}});
  Waiter waiter([&] { return std::make_unique<ScriptedWatch>(script); }, world_.elasticsearch.transports(),
                {world_.pipeline.name, {"posts"}}, 20s, kLed);
  std::vector<std::string> told;
  const WaitAnswer answer = waiter.wait({.transaction = TransactionId{7}, .timeout = 20s},
                                        [&](const std::string& reason) { told.push_back(reason); }, {});
  EXPECT_EQ(answer.kind, WaitAnswer::Kind::kApplied);
  EXPECT_THAT(told, ElementsAre("a", "b"));
  EXPECT_THAT(script.begun(), ElementsAre(TransactionId{7})) << "one point, looked at again and again";
}

TEST_F(WaiterTest, TheTimeOutSaysWhatTheLeaderWaitsFor) {
  leader_waits_ = "rendering documents of posts has taken 7.0 s";
  const WaitAnswer answer = wait({.timeout = 0ms});
  EXPECT_EQ(answer.reason,
            "changes are pending; the leader waits: rendering documents of posts has taken 7.0 s");
}

TEST_F(WaiterTest, TheTimeOutSaysWhyAndLooksOnceAtLeast) {
  const WaitAnswer answer = wait({.timeout = 0ms});
  EXPECT_EQ(answer.kind, WaitAnswer::Kind::kTimedOut);
  EXPECT_EQ(answer.reason, "changes are pending");
  EXPECT_EQ(script_.looks(), 1);
  script_.answer_from_now_on({Kind::kApplied});
  EXPECT_EQ(wait({.timeout = 0ms}).kind, WaitAnswer::Kind::kApplied);
}

TEST_F(WaiterTest, ItSaysWhenNobodyLeads) {
  script_.set_led(false);
  const WaitAnswer answer = wait({.timeout = 10ms});
  EXPECT_EQ(answer.kind, WaitAnswer::Kind::kTimedOut);
  EXPECT_THAT(answer.reason, HasSubstr("changes are pending, and nobody leads: one waits"));
}

TEST_F(WaiterTest, ATransactionThatWillNeverBeAppliedIsNotWaitedFor) {
  script_.answer_from_now_on({Kind::kRolledBack, "transaction 7 was rolled back"});
  const WaitAnswer answer = wait({.transaction = TransactionId{7}});
  EXPECT_EQ(answer.kind, WaitAnswer::Kind::kRolledBack);
  EXPECT_EQ(answer.reason, "transaction 7 was rolled back");
  script_.answer_from_now_on({Kind::kUnknownTransaction, "no transaction 7"});
  EXPECT_EQ(wait({.transaction = TransactionId{7}}).kind, WaitAnswer::Kind::kUnknownTransaction);
}

TEST_F(WaiterTest, ALostConnectionIsMadeAnewAndThePointWithIt) {
  script_.fail_next_look();
  std::jthread later([this] {
    eventually([this] { return script_.opened() == 2; });
    script_.answer_from_now_on({Kind::kApplied});
  });
  EXPECT_EQ(wait({.timeout = 20s}).kind, WaitAnswer::Kind::kApplied);
  EXPECT_EQ(script_.begun().size(), 2U);
  EXPECT_THAT(told_.front(), HasSubstr("it is away"));
}

TEST_F(WaiterTest, ASourceThatIsAwayWhileItIsRestoredIsWaitedFor) {
  int opened = 0;
  const auto open = [&] {
    if (++opened == 2) throw SourceAbsent("there is no file");
    if (opened == 3) script_.answer_from_now_on({Kind::kApplied});
    return std::make_unique<ScriptedWatch>(script_);
  };
  Waiter waiter(open, world_.elasticsearch.transports(), {world_.pipeline.name, {"posts"}}, 20s, kLed);
  const auto tell = [&](const std::string& reason) {
    told_.push_back(reason);
    if (told_.size() == 1) script_.fail_next_look();
  };
  EXPECT_EQ(waiter.wait({.timeout = 20s}, tell, {}).kind, WaitAnswer::Kind::kApplied);
  EXPECT_THAT(told_, testing::Contains("there is no file"));
  opened = 1;
  Waiter other(open, world_.elasticsearch.transports(), {world_.pipeline.name, {"posts"}}, 20s, kLed);
  EXPECT_THROW(other.wait({.timeout = 20s}, tell, {}), UsageError) << "it never was there";
}

TEST_F(WaiterTest, AConnectionIsKeptForTheNext) {
  script_.answer_from_now_on({Kind::kApplied});
  EXPECT_EQ(wait({}).kind, WaitAnswer::Kind::kApplied);
  EXPECT_EQ(wait({}).kind, WaitAnswer::Kind::kApplied);
  EXPECT_EQ(script_.opened(), 1);
}

TEST_F(WaiterTest, ItRefreshesWhenEverythingIsApplied) {
  script_.answer_from_now_on({Kind::kApplied});
  std::vector<std::string> asked;
  int refusals = 1;
  world_.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.method == "GET") return std::nullopt;
    asked.push_back(request.method + " " + request.path);
    return HttpResponse{refusals-- > 0 ? 503 : 200, "{}"};
  });
  EXPECT_EQ(wait({.refresh = WaitRequest::Refresh::kYes, .timeout = 20s}).kind, WaitAnswer::Kind::kApplied);
  EXPECT_THAT(asked, ElementsAre("POST /posts,files/_refresh", "POST /posts,files/_refresh"))
      << "a server that is away is asked again";
  EXPECT_EQ(wait({}).kind, WaitAnswer::Kind::kApplied);
  EXPECT_EQ(asked.size(), 2U);
}

TEST_F(WaiterTest, WhatSearchesDoNotSeeIsWaitedFor) {
  script_.answer_from_now_on({Kind::kApplied});
  script_.set_searched({{"posts", "posts-000001", "posts-000001"}});
  std::string behind = "posts-000002";
  world_.elasticsearch.intercept([&](const HttpRequest&) -> std::optional<HttpResponse> {
    return HttpResponse{200, R"({")" + std::exchange(behind, "posts-000001") +
                                 R"(": {"aliases": {"posts": {}}, "mappings": {}, "settings": {}}})"};
  });
  EXPECT_EQ(wait({.timeout = 20s}).kind, WaitAnswer::Kind::kApplied);
  EXPECT_THAT(told_, ElementsAre(HasSubstr("posts does not point to posts-000001")));
  behind = "posts-000002";
  const WaitAnswer answer = wait({.timeout = 0ms});
  EXPECT_EQ(answer.kind, WaitAnswer::Kind::kTimedOut);
  EXPECT_THAT(answer.reason, HasSubstr("searches do not see it"));
}

// Reported: `wait --refresh` ended with 0 while a search of the alias found another index, an empty one.
TEST_F(WaiterTest, ARefreshWaitsForAnAliasThatPointsToAnotherPipelinesIndex) {
  script_.answer_from_now_on({Kind::kApplied});
  const WaitRequest request{.refresh = WaitRequest::Refresh::kYes, .timeout = 0ms};
  world_.elasticsearch.lead_elsewhere("files", "another");
  const WaitAnswer answer = wait(request);
  EXPECT_EQ(answer.kind, WaitAnswer::Kind::kTimedOut);
  EXPECT_THAT(answer.reason, HasSubstr("the alias files does not point to an index of this pipeline"));
  world_.elasticsearch.lead_back("files");
  EXPECT_EQ(wait(request).kind, WaitAnswer::Kind::kApplied);
}

TEST_F(WaiterTest, AStopEndsIt) {
  std::jthread stopper([this] {
    eventually([this] { return script_.looks() > 2; });
    stop_.request_stop();
  });
  EXPECT_EQ(wait({}).kind, WaitAnswer::Kind::kStopped);
}

}  // namespace
}  // namespace lockstep::fake
