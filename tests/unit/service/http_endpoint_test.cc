#include "replicator/service/http_endpoint.h"

#include <gmock/gmock.h>
#include <httplib.h>

#include "replicator/error.h"
#include "replicator/service/health.h"
#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

class HttpEndpointTest : public testing::Test {
 protected:
  HttpEndpointTest() {
    board_.update([&](ReplicationProgress& progress) {
      progress.state = PipelineState::kFollowing;
      progress.turned_at = progress.advanced_at = clock_.now();
      progress.indices[IndexId{1}] = {.alias = "<posts>", .documents = 1'234};
    });
  }

  httplib::Result get(const std::string& path) {
    return httplib::Client("127.0.0.1", endpoint_.port()).Get(path.c_str());
  }

  HandClock clock_;
  ProgressBoard board_;
  HttpEndpoint endpoint_{"127.0.0.1:0", "shop", board_, clock_};
};

TEST_F(HttpEndpointTest, ServesMetricsAsPrometheusReadsThem) {
  const auto reply = get("/metrics");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(reply->body, HasSubstr("lockstep_documents_total{pipeline=\"shop\",index=\"<posts>\"} 1234\n"));
}

TEST_F(HttpEndpointTest, HealthFollowsTheProgress) {
  EXPECT_EQ(get("/healthz")->status, 200);
  EXPECT_EQ(get("/readyz")->status, 200);
  clock_.move(kStuckAfter + std::chrono::seconds(1));
  EXPECT_EQ(get("/healthz")->status, 200);
  EXPECT_EQ(get("/readyz")->status, 503);
  EXPECT_THAT(get("/readyz")->body, HasSubstr("nothing was acknowledged"));
  clock_.move(kHungAfter);
  EXPECT_EQ(get("/healthz")->status, 503);
}

TEST_F(HttpEndpointTest, TheStatusPageIsSelfContainedAndEscapesNames) {
  const auto reply = get("/");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(reply->body, HasSubstr("&lt;posts&gt;"));
  EXPECT_THAT(reply->body, HasSubstr("1,234"));
  EXPECT_THAT(reply->body, Not(HasSubstr("http://")));
  EXPECT_THAT(reply->body, Not(HasSubstr("{{")));
}

TEST_F(HttpEndpointTest, AnythingElseIsNotFound) {
  EXPECT_EQ(get("/etc/passwd")->status, 404);
}

TEST_F(HttpEndpointTest, AnAddressThatCannotBeHadIsAnError) {
  const auto serve = [&](const std::string& listen) { HttpEndpoint(listen, "shop", board_, clock_); };
  EXPECT_THROW(serve("no.such.host.invalid:9464"), Error);
}

}  // namespace
}  // namespace lockstep
