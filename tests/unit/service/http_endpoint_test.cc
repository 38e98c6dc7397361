#include "replicator/service/http_endpoint.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "replicator/error.h"
#include "replicator/service/health.h"
#include "replicator/service/health_probe.h"
#include "replicator/service/http_server.h"
#include "replicator/service/status_page.h"
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
  History history_;
  WatchedStatus watched_{[]() -> std::unique_ptr<StatusReader> {
                           throw Error({"reading the status", "the source is away"});
                         },
                         clock_,
                         {}};
  StatusPage page_{"shop", board_, clock_, history_, watched_};
  HttpEndpoint endpoint_{"127.0.0.1:0", "shop", board_, clock_, {.page = &page_}};
};

TEST_F(HttpEndpointTest, ServesMetricsAsPrometheusReadsThem) {
  const auto reply = get("/metrics");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(reply->body, HasSubstr("lockstep_documents_total{pipeline=\"shop\",index=\"<posts>\"} 1234\n"));
}

TEST_F(HttpEndpointTest, AProbeAsksWhoeverListens) {
  const std::string port = ":" + std::to_string(endpoint_.port());
  EXPECT_EQ(ask_health("0.0.0.0" + port, "/readyz").verdict, Verdict::kGood);
  EXPECT_EQ(ask_health("127.0.0.1" + port, "/readyz").text, "following");
  clock_.move(kStuckAfter + std::chrono::seconds(1));
  const ProbeAnswer stuck = ask_health("127.0.0.1" + port, "/readyz");
  EXPECT_EQ(stuck.verdict, Verdict::kBad);
  EXPECT_THAT(stuck.text, HasSubstr("nothing was acknowledged"));
}

TEST(HealthProbe, NothingThatListensIsNamedWithoutTheWordsOfALibrary) {
  EXPECT_THAT(
      [] { ask_health("127.0.0.1:1", "/healthz", "shop.toml"); },
      testing::ThrowsMessage<Error>("asking http://127.0.0.1:1/healthz: nothing listens on 127.0.0.1:1; "
                                    "start `lockstep run -c shop.toml` on this machine"));
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

TEST_F(HttpEndpointTest, TheStatusPageIsOurOwnFilesAndMayLoadNothingElse) {
  const std::map<std::string, std::string> types = {{"/", "text/html; charset=utf-8"},
                                                    {"/status.css", "text/css; charset=utf-8"},
                                                    {"/status.js", "text/javascript; charset=utf-8"},
                                                    {"/status.json", "application/json"}};
  for (const auto& [path, type] : types) {
    const auto reply = get(path);
    ASSERT_TRUE(reply) << path;
    EXPECT_EQ(reply->status, 200) << path;
    EXPECT_EQ(reply->get_header_value("Content-Type"), type);
    EXPECT_EQ(reply->get_header_value("Cache-Control"), "no-store");
    EXPECT_THAT(reply->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
    EXPECT_THAT(reply->get_header_value("Content-Security-Policy"), Not(HasSubstr("unsafe")));
    EXPECT_EQ(reply->get_header_value("X-Content-Type-Options"), "nosniff");
    if (path != "/status.js") EXPECT_THAT(reply->body, Not(HasSubstr("http://"))) << path;
    EXPECT_THAT(reply->body, Not(HasSubstr("https://"))) << path;
  }
  EXPECT_THAT(get("/")->body, Not(testing::ContainsRegex("style=|onclick=|<script>|<style>")))
      << "the policy forbids it";
  EXPECT_THAT(get("/status.json")->body, HasSubstr("<posts>"));
}

// A client that says a part of a request and then nothing.
class SilentClient {
 public:
  SilentClient(int port, const std::string& part) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(socket_, part.data(), part.size(), MSG_NOSIGNAL), static_cast<ssize_t>(part.size()));
  }
  SilentClient(SilentClient&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ~SilentClient() {
    if (socket_ >= 0) ::close(socket_);
  }

  /// Everything that the server answers until it closes the connection.
  std::string answer() {
    std::string text;
    char bytes[1024];
    for (ssize_t read = 0; (read = ::recv(socket_, bytes, sizeof bytes, 0)) > 0;) {
      text.append(bytes, static_cast<std::size_t>(read));
    }
    return text;
  }

 private:
  int socket_;
};

TEST_F(HttpEndpointTest, ManySilentConnectionsKeepNobodyFromTheProbes) {
  std::vector<SilentClient> silent;
  for (int i = 0; i < 200; ++i) {
    const char* const parts[] = {"", "GET /metrics HTTP/1.1\r\nHost: a", "POST /wait HTTP/1.1\r\n",
                                 "POST /healthz HTTP/1.1\r\nContent-Length: 9\r\n\r\n1"};
    silent.emplace_back(endpoint_.port(), parts[i % 4]);
  }
  const auto begun = std::chrono::steady_clock::now();
  for (const char* path : {"/healthz", "/readyz", "/metrics", "/"}) {
    const auto reply = get(path);
    ASSERT_TRUE(reply) << path;
    EXPECT_EQ(reply->status, 200) << path;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
}

TEST_F(HttpEndpointTest, ARequestThatDoesNotEndIsClosed) {
  EXPECT_THAT(SilentClient(endpoint_.port(), "GET /healthz HTTP/1.1\r\n").answer(), HasSubstr(" 408 "));
}

TEST_F(HttpEndpointTest, AHeadWithoutEndIsRefused) {
  EXPECT_THAT(
      SilentClient(endpoint_.port(), "GET /healthz HTTP/1.1\r\nA: " + std::string(9'000, 'a')).answer(),
      HasSubstr(" 431 "));
}

TEST_F(HttpEndpointTest, AClientThatReadsNothingKeepsNobodyFromTheProbes) {
  std::vector<SilentClient> silent;
  for (int i = 0; i < 40; ++i) silent.emplace_back(endpoint_.port(), "GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_EQ(get("/healthz")->status, 200);
}

TEST_F(HttpEndpointTest, ManyRequestsWithoutTheirBodiesAreTurnedAway) {
  std::vector<SilentClient> silent;
  for (int i = 0; i < HttpServer::kMostUnanswered + 11; ++i) {
    silent.emplace_back(endpoint_.port(), "POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\n");
    // What came before it has been read when a probe has its answer.
    if (i % 10 == 9) {
      EXPECT_EQ(get("/healthz")->status, 200);
    }
  }
  EXPECT_THAT(silent.back().answer(), HasSubstr(" 503 "));
  EXPECT_EQ(get("/healthz")->status, 200);
}

TEST_F(HttpEndpointTest, AnythingElseIsNotFound) {
  EXPECT_EQ(get("/etc/passwd")->status, 404);
}

TEST_F(HttpEndpointTest, AnAddressThatCannotBeHadIsAnError) {
  const auto serve = [&](const std::string& listen) { HttpEndpoint(listen, "shop", board_, clock_, {}); };
  EXPECT_THROW(serve("no.such.host.invalid:9464"), Error);
}

TEST_F(HttpEndpointTest, TwoProcessesNeverShareAPort) {
  const std::string listen = "127.0.0.1:" + std::to_string(endpoint_.port());
  try {
    const HttpEndpoint second(listen, "other", board_, clock_, {});
    FAIL() << "either would answer";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(listen + ": another process listens there"));
  }
  EXPECT_EQ(get("/healthz")->status, 200);
}

}  // namespace
}  // namespace lockstep
