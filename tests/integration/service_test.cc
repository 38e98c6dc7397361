// The service: how it ends, how it dies, and who takes over.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class Service : public BlogTest {
 protected:
  std::string change() {
    const std::string id = std::to_string(++next_);
    execute("insert into blog.posts (id, author_id, title) values (" + id + ", 1, 'new')");
    return id;
  }

 private:
  int next_ = 100;
};

TEST_F(Service, SigtermEndsItWithinFiveSecondsAndNothingIsLost) {
  follow();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(wait_until([&] { return leads(); }, kPatience));
    for (int k = 0; k < 20; ++k) change();
    const auto before = std::chrono::steady_clock::now();
    program_->signal(SIGTERM);
    for (int k = 0; k < 5; ++k) change();
    EXPECT_EQ(program_->wait(30s), 0) << program_->err();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
    restart();
  }
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(proxy_.history().overlaps().empty()) << proxy_.history().overlaps().front();
}

TEST_F(Service, SigtermEndsItWhileElasticsearchHangs) {
  follow();
  proxy_.hold_bulks();
  change();
  ASSERT_TRUE(wait_until([&] { return proxy_.held() > 0; }, kPatience));
  const auto before = std::chrono::steady_clock::now();
  program_->signal(SIGTERM);
  EXPECT_TRUE(program_->wait(30s).has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - before, 6s);
  proxy_.release_bulks();
  restart();
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Service, OneLeadsAndTheOtherTakesOverWithinSecondsOfItsDeath) {
  follow();
  EXPECT_TRUE(appears(change()));
  auto standby = pipeline_.start();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(appears(change()));
  EXPECT_TRUE(standby->running()) << standby->err();
  program_->kill();
  const auto dead = std::chrono::steady_clock::now();
  EXPECT_TRUE(appears(change()));
  EXPECT_LT(std::chrono::steady_clock::now() - dead, 10s);
  EXPECT_TRUE(becomes_equal());
  program_ = std::move(standby);
}

// A bulk request that was on its way when its sender died lands after its successor has written.
TEST_F(Service, ALateRequestOfADeadLeaderPutsNothingBack) {
  follow();
  EXPECT_TRUE(appears(change()));
  std::atomic<bool> caught = false;
  proxy_.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
    if (!RecordingProxy::is_bulk(request) || caught.exchange(true)) return std::nullopt;
    return Disturbance{.delay = 4s};
  });
  execute("update blog.posts set title = 'old state' where id in (1, 2)");
  ASSERT_TRUE(wait_until([&] { return caught.load(); }, kPatience));
  program_->kill();
  execute("update blog.posts set title = 'new state' where id = 1; delete from blog.posts where id = 2");
  program_ = pipeline_.start();
  EXPECT_TRUE(becomes_equal());
  ASSERT_TRUE(wait_until([&] { return proxy_.history().superseded() >= 2; }, kPatience))
      << "the late request never came";
  EXPECT_TRUE(is_equal());
  proxy_.disturb({});
}

// A leader that is stopped, loses its session, and wakes up when another one leads.
TEST_F(Service, ADeposedLeaderThatWakesUpPutsNothingBack) {
  follow();
  EXPECT_TRUE(appears(change()));
  program_->signal(SIGSTOP);
  execute("update blog.posts set title = 'while asleep' where id <= 5");
  execute(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> "
      "pg_backend_pid() "
      "and application_name like 'lockstep%'");
  auto successor = pipeline_.start();
  EXPECT_TRUE(becomes_equal());
  program_->signal(SIGCONT);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(appears(change()));
  EXPECT_TRUE(becomes_equal());
  successor->kill();
  EXPECT_TRUE(appears(change()));  // whoever is left leads again
}

TEST_F(Service, LostConnectionsToTheDatabaseAreMadeAgain) {
  follow();
  for (int i = 0; i < 3; ++i) {
    execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid "
        "<> pg_backend_pid() "
        "and application_name like 'lockstep%'");
    EXPECT_TRUE(appears(change()));
  }
  EXPECT_TRUE(program_->running()) << program_->err();
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Service, LostRequestsAndLostRepliesToElasticsearchAreRepeated) {
  follow();
  std::atomic<int> count = 0;
  proxy_.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
    if (!RecordingProxy::is_bulk(request)) return std::nullopt;
    switch (count++ % 4) {
      case 0:
        return Disturbance{.lose_reply = true};
      case 1:
        return Disturbance{.lose_request = true};
      default:
        return std::nullopt;
    }
  });
  for (int i = 0; i < 8; ++i) {
    execute("update blog.posts set title = title || '.' where id % 2 = " + std::to_string(i % 2));
    EXPECT_TRUE(appears(change()));
  }
  EXPECT_TRUE(becomes_equal());
  proxy_.disturb({});
}

TEST_F(Service, KilledAgainAndAgainItLosesNothing) {
  follow();
  const auto session = database_.connect();
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 10; ++i) {
      support::execute(*session, "update blog.posts set title = title || '.' where id = " +
                                     std::to_string(1 + (round * 7 + i) % 20));
      support::execute(*session,
                       "update blog.authors set name = name || '.' where id = " + std::to_string(1 + i % 5));
      if (i == round % 10) kill();
    }
    program_ = pipeline_.start();
    ASSERT_TRUE(appears(change()));
  }
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Service, ADeadElasticsearchSlowsNoWriterAndLosesNothing) {
  follow();
  proxy_.disturb([](const HttpMessage&) { return Disturbance{.lose_request = true}; });
  for (int i = 0; i < 200; ++i) change();
  ASSERT_TRUE(
      wait_until([&] { return pipeline_.status().at("state") == "waiting_for_elasticsearch"; }, kPatience));
  EXPECT_TRUE(program_->running()) << program_->err();
  proxy_.disturb({});
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Service, EveryBulkRequestForbidsToCreateAnIndex) {
  std::atomic<bool> guarded = true;
  proxy_.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
    if (RecordingProxy::is_bulk(request) &&
        request.target().find("require_alias=true") == std::string::npos &&
        request.body.find("\"require_alias\":true") == std::string::npos) {
      guarded = false;
    }
    return std::nullopt;
  });
  follow();
  execute("update blog.posts set title = 'changed'; delete from blog.posts where id = 1");
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(guarded);
  proxy_.disturb({});
}

}  // namespace
}  // namespace lockstep::support
