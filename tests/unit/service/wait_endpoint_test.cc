#include "replicator/service/wait_endpoint.h"

#include <gmock/gmock.h>
#include <httplib.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "replicator/service/http_endpoint.h"
#include "tests/unit/pipeline/fake_watch.h"
#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using fake::WatchScript;
using testing::HasSubstr;
using Kind = AppliedState::Kind;

class WaitEndpointTest : public testing::Test {
 protected:
  WaitEndpoint::Reply answer(const WaitEndpoint::Parameters& parameters) {
    return WaitEndpoint(waiter_).answer(parameters);
  }

  WatchScript script_{{{Kind::kApplied}}};
  Waiter waiter_{[this] { return std::make_unique<fake::ScriptedWatch>(script_); },
                 []() -> std::unique_ptr<HttpTransport> { throw std::logic_error("not asked to refresh"); },
                 {"blog", {"posts"}},
                 20s,
                 {[] { return "nobody leads"; }, [] { return ""; }}};
};

TEST_F(WaitEndpointTest, AppliedIs200) {
  const WaitEndpoint::Reply reply = answer({{"xid", "741"}, {"timeout", "5s"}, {"refresh", "false"}});
  EXPECT_EQ(reply.status, 200);
  const auto body = nlohmann::json::parse(reply.body);
  EXPECT_EQ(body.at("applied"), true);
  EXPECT_EQ(body.at("searchable"), false);
  EXPECT_GE(body.at("waited_ms"), 0);
  EXPECT_EQ(script_.begun().at(0), TransactionId{741});
}

TEST_F(WaitEndpointTest, WhatWentWrongHasItsStatus) {
  script_.answer_from_now_on({Kind::kPending, "changes are pending"});
  const WaitEndpoint::Reply late = answer({{"timeout", "1ms"}});
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(nlohmann::json::parse(late.body).at("error"), "not within 1ms: changes are pending");
  script_.answer_from_now_on({Kind::kRolledBack, "transaction 7 was rolled back"});
  EXPECT_EQ(answer({{"xid", "7"}}).status, 409);
  script_.answer_from_now_on({Kind::kUnknownTransaction, "no transaction 7"});
  EXPECT_EQ(answer({{"xid", "7"}}).status, 400);
}

TEST_F(WaitEndpointTest, BadParametersAreNamed) {
  const auto error = [&](const WaitEndpoint::Parameters& parameters) {
    const WaitEndpoint::Reply reply = answer(parameters);
    EXPECT_EQ(reply.status, 400) << reply.body;
    return nlohmann::json::parse(reply.body).at("error").get<std::string>();
  };
  for (const char* xid : {"", "0", "-1", "7x", "99999999999999999999999"})
    EXPECT_THAT(error({{"xid", xid}}), HasSubstr("xid"));
  for (const char* timeout : {"", "5", "soon", "1h"})
    EXPECT_THAT(error({{"timeout", timeout}}), HasSubstr("at most 5m"));
  EXPECT_THAT(error({{"refresh", "yes"}}), HasSubstr("true or false"));
  EXPECT_THAT(error({{"xdi", "7"}}), HasSubstr("no parameter xdi"));
  EXPECT_THAT(error({{"xid", "7"}, {"xid", "8"}}), HasSubstr("more than once"));
  EXPECT_TRUE(script_.begun().empty());
}

TEST_F(WaitEndpointTest, ManyWaitersLeaveRoomForHealthAndAreLetGoAtAStop) {
  script_.answer_from_now_on({Kind::kPending, "changes are pending"});
  HandClock clock;
  ProgressBoard board;
  board.update(
      [&](ReplicationProgress& progress) { progress.turned_at = progress.advanced_at = clock.now(); });
  auto endpoint = std::make_unique<HttpEndpoint>("127.0.0.1:0", "shop", board, clock,
                                                 HttpEndpoint::Parts{.waiter = &waiter_});
  const int port = endpoint->port();
  const auto wait = [port] {
    httplib::Client client("127.0.0.1", port);
    client.set_read_timeout(60);
    const auto reply = client.Post("/wait?timeout=5m");
    return reply ? reply->status : 0;
  };
  std::vector<int> statuses(WaitEndpoint::kMostWaiters);
  std::vector<std::thread> waiters;
  for (int& status : statuses) waiters.emplace_back([&status, wait] { status = wait(); });
  while (script_.begun().size() < statuses.size()) std::this_thread::yield();
  EXPECT_EQ(wait(), 503) << "one too many";
  const auto health = httplib::Client("127.0.0.1", port).Get("/healthz");
  ASSERT_TRUE(health);
  EXPECT_EQ(health->status, 200);
  EXPECT_EQ(httplib::Client("127.0.0.1", port).Get("/wait")->status, 405);
  EXPECT_EQ(httplib::Client("127.0.0.1", port).Post("/wait", "xid=7", "text/plain")->status, 400);
  endpoint.reset();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_THAT(statuses, testing::Each(503));
}

}  // namespace
}  // namespace lockstep
