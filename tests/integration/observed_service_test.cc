// What is seen of a service from outside: HTTP, and what becomes of an index that is deleted under it.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/blog_pipeline.h"
#include "tests/support/http_stream.h"

namespace lockstep::support {
namespace {

class ObservedService : public BlogTest {
 protected:
  Completed get(const std::string& path) {
    return run_program("curl", {"-s", "-S", "-o", "-", "-w", "%{http_code}", endpoint() + path});
  }

  bool leads() {
    return wait_until([&] { return pipeline_.status().at("state") == "following"; }, kPatience);
  }

  bool answers(const std::string& path, const std::string& status) {
    return wait_until([&] { return get(path).out.ends_with(status); }, kPatience);
  }
};

TEST_F(ObservedService, HttpTellsHowItIs) {
  pipeline_.set_more("[http]\nlisten = '127.0.0.1:0'\n");
  follow();
  EXPECT_TRUE(answers("/readyz", "200")) << get("/readyz").out;
  EXPECT_TRUE(answers("/healthz", "200"));
  execute("update blog.posts set title = 'counted' where id = 1");
  EXPECT_TRUE(becomes_equal());
  const std::string counted =
      "lockstep_documents_total{pipeline=\"test\",index=\"" + posts_.alias() + "\"} 1";
  EXPECT_TRUE(wait_until([&] { return get("/metrics").out.find(counted) != std::string::npos; }, kPatience))
      << get("/metrics").out;
  EXPECT_NE(get("/status.json").out.find(posts_.alias()), std::string::npos);
}

TEST_F(ObservedService, ReadinessFollowsElasticsearch) {
  pipeline_.set_more("[http]\nlisten = '127.0.0.1:0'\n");
  follow();
  EXPECT_TRUE(answers("/readyz", "200"));
  proxy_.disturb([](const HttpMessage&) { return Disturbance{.lose_request = true}; });
  execute("update blog.posts set title = 'waiting' where id = 1");
  EXPECT_TRUE(answers("/readyz", "503"));
  EXPECT_TRUE(answers("/healthz", "200")) << "it need not be started anew";
  proxy_.disturb({});
  EXPECT_TRUE(answers("/readyz", "200"));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(ObservedService, AStrangerWithTheLockOfTheLeadIsNamedAndHindersNobody) {
  pipeline_.set_more("[http]\nlisten = '127.0.0.1:0'\n");
  pipeline_.apply();
  const auto stranger = database_.connect_as(database_.create_role("stranger"));
  support::execute(
      *stranger,
      "select pg_advisory_lock(" +
          database_.value("select hashtextextended(identity::text, 0) from lockstep.pipeline").value() + ")");
  program_ = pipeline_.start();
  ASSERT_TRUE(leads());
  const std::string named = "session " + std::to_string(stranger->backendpid());
  EXPECT_TRUE(
      wait_until([&] { return pipeline_.status().at("warnings").dump().find(named) != std::string::npos; },
                 std::chrono::seconds(15)));
  EXPECT_NE(pipeline_.must("status").find(named), std::string::npos);
  EXPECT_NE(get("/metrics").out.find("lockstep_warnings{pipeline=\"test\"} 1"), std::string::npos);
}

TEST_F(ObservedService, AStandbySaysSoAndIsReady) {
  follow();
  const auto is_led_by = [&](pid_t pid) {
    const nlohmann::json status = pipeline_.status();
    return status.at("state") == "following" && status.at("leader").at("pid") == pid;
  };
  ASSERT_TRUE(wait_until([&] { return is_led_by(program_->pid()); }, kPatience));
  const auto leader = std::move(program_);
  pipeline_.set_more("[http]\nlisten = '127.0.0.1:0'\n");
  program_ = pipeline_.start();
  EXPECT_TRUE(wait_until([&] { return get("/readyz").out == "standing_by\n200"; }, kPatience))
      << get("/readyz").out;
  EXPECT_TRUE(is_led_by(leader->pid()));
  leader->kill();
  EXPECT_TRUE(wait_until([&] { return is_led_by(program_->pid()); }, kPatience));
}

TEST_F(ObservedService, AStandbyOfALeaderThatHangsIsNotReadyAndTellsTheLag) {
  follow();
  ASSERT_TRUE(leads());
  const auto leader = std::move(program_);
  pipeline_.set_more("[http]\nlisten = '127.0.0.1:0'\n");
  program_ = pipeline_.start();
  ASSERT_TRUE(answers("/readyz", "standing_by\n200")) << get("/readyz").out;
  leader->signal(SIGSTOP);
  execute("update blog.posts set title = 'waits' where id = 1");
  EXPECT_TRUE(answers("/readyz", "503")) << get("/readyz").out;
  EXPECT_NE(get("/readyz").out.find("has not reported"), std::string::npos) << get("/readyz").out;
  EXPECT_TRUE(answers("/healthz", "200")) << "it need not be started anew";
  const std::string metrics = get("/metrics").out;
  EXPECT_NE(metrics.find("lockstep_led{pipeline=\"test\"} 0"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("lockstep_pending{pipeline=\"test\"} 1"), std::string::npos) << metrics;
  EXPECT_EQ(metrics.find("lockstep_lag_seconds{pipeline=\"test\"} 0\n"), std::string::npos) << metrics;
  leader->signal(SIGCONT);
  EXPECT_TRUE(answers("/readyz", "200")) << get("/readyz").out;
  EXPECT_TRUE(becomes_equal());
}

// Both said: led 1, lag 0, pending 0, while `status` counted the rows.
TEST_F(ObservedService, AServiceThatStartsWhileElasticsearchIsAwayTellsTheLagAndThatNobodyLeads) {
  pipeline_.set_more("[http]\nlisten = '127.0.0.1:0'\n");
  follow();
  kill();
  proxy_.disturb([](const HttpMessage&) { return Disturbance{.lose_request = true}; });
  execute("update blog.posts set title = 'waits' where id = 1");
  restart();
  const auto tells = [&](const std::string& sample) {
    return wait_until([&] { return get("/metrics").out.find(sample + "\n") != std::string::npos; },
                      kPatience);
  };
  EXPECT_TRUE(tells("lockstep_pending{pipeline=\"test\"} 1")) << get("/metrics").out;
  EXPECT_TRUE(tells("lockstep_led{pipeline=\"test\"} 0")) << get("/metrics").out;
  const std::string metrics = get("/metrics").out;
  EXPECT_EQ(metrics.find("lockstep_lag_seconds{pipeline=\"test\"} 0\n"), std::string::npos) << metrics;
  EXPECT_EQ(metrics.find("lockstep_outbox_bytes{pipeline=\"test\"} 0\n"), std::string::npos) << metrics;
  EXPECT_TRUE(wait_until(
      [&] {
        const Completed late = pipeline_.lockstep("wait", {"--timeout", "100ms"});
        EXPECT_EQ(late.err.find("start `lockstep run`"), std::string::npos) << late.err;
        return late.err.find("process " + std::to_string(program_->pid()) + ", reported ") !=
                   std::string::npos &&
               late.err.find(" ago that it waits: ") != std::string::npos;
      },
      kPatience));
}

TEST_F(ObservedService, AnIndexThatWasDeletedIsFilledAnewAfterApply) {
  follow();
  for (const bool running : {true, false}) {
    if (!running) kill();
    // By the recorder: the next index has the same name, and knows nothing of the versions of this one.
    const std::string index = proxy_.url() + "/" + posts_.concrete().at(0);
    ASSERT_EQ(run_program("curl", {"--silent", "--fail", "--request", "DELETE", index}).exit_code, 0);
    const Completed plan = pipeline_.lockstep("plan", {"--exit-code"});
    EXPECT_EQ(plan.exit_code, 3);
    EXPECT_NE(plan.out.find("+ create backfill of " + posts_.alias()), std::string::npos) << plan.out;
    pipeline_.apply();
    restart();
    EXPECT_TRUE(becomes_equal());
  }
}

TEST_F(ObservedService, AServiceThatStoppedIsNotRunningAtOnce) {
  follow();
  ASSERT_TRUE(leads());
  program_->signal(SIGTERM);
  EXPECT_EQ(program_->wait(30s), 0);
  EXPECT_EQ(pipeline_.status().at("state"), "not_running");
}

TEST_F(ObservedService, CheckNamesWhatIsWrongOnBothSidesAtOnce) {
  EXPECT_EQ(pipeline_.lockstep("check").exit_code, 0);
  pipeline_.set_tracks("posts", track("blog.posts") + track("blog.authors", {{"column", "_author_id"}}));
  pipeline_.set_mapping("posts", R"({"mappings": {"properties": {"title": {"type": "txet"}}}})");
  const Completed check = pipeline_.lockstep("check");
  EXPECT_EQ(check.exit_code, 2);
  EXPECT_NE(check.out.find("blog.comments"), std::string::npos) << check.out;
  EXPECT_NE(check.out.find("txet"), std::string::npos) << check.out;
}

TEST_F(ObservedService, RemoveRefusesWhileItRuns) {
  follow();
  ASSERT_TRUE(leads());
  const Completed remove = pipeline_.lockstep("remove", {"--yes"});
  EXPECT_EQ(remove.exit_code, 1);
  EXPECT_NE(remove.err.find("it is running"), std::string::npos) << remove.err;
  EXPECT_TRUE(program_->running());
}

}  // namespace
}  // namespace lockstep::support
