// The curl transport against a small HTTP server in this program: what it sends, and its messages when
// nothing comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/error.h"
#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr auto kDeadline = 30s;
constexpr std::size_t kLargeReply = 10'000'000;  // bytes

/// Records requests and answers 200 "ok", at /large with a large text, or hangs on /hang until it is
/// destroyed.
class RecordingServer {
 public:
  RecordingServer() {
    const auto record = [this](const httplib::Request& request, httplib::Response& response) {
      std::unique_lock lock(mutex_);
      requests_.push_back(request);
      if (request.path == "/hang") released_.wait(lock, [this] { return released; });
      response.status = request.path == "/404" ? 404 : 200;
      response.set_content(request.path == "/large" ? std::string(kLargeReply, 'x') : "ok", "text/plain");
    };
    server_.Get(".*", record).Post(".*", record).Put(".*", record).Delete(".*", record);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }

  ~RecordingServer() {
    {
      const std::lock_guard lock(mutex_);
      released = true;
      released_.notify_all();
    }
    server_.stop();
    thread_.join();
  }

  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + host(); }

  std::vector<httplib::Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  httplib::Request last() const { return requests().back(); }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable released_;
  bool released = false;
  std::vector<httplib::Request> requests_;
};

std::string unused_url() {
  const RecordingServer gone;
  return gone.url();
}

ElasticsearchConfig config_of(std::vector<std::string> urls) {
  ElasticsearchConfig config;
  config.urls = std::move(urls);
  config.connect_timeout = 2s;
  return config;
}

HttpRequest request_of(const std::string& method, const std::string& path, std::string_view body = {}) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  request.timeout = kDeadline;
  return request;
}

TransportError failure_of(HttpTransport& transport, const HttpRequest& request) {
  try {
    transport.perform(request);
  } catch (const TransportError& error) {
    return error;
  }
  throw std::runtime_error("there was a reply");
}

TEST(CurlTransport, SendsEveryMethodWithAndWithoutABody) {
  RecordingServer server;
  const auto transport = make_transport_factory(config_of({server.url()}))();
  for (const std::string method : {"GET", "POST", "PUT", "DELETE"}) {
    for (const std::string body : {"", "{\"a\":1}"}) {
      const HttpResponse response = transport->perform(request_of(method, "/x%2Fy/_doc/..?q=%20", body));
      EXPECT_EQ(response.status, 200);
      EXPECT_EQ(response.body, "ok");
      EXPECT_EQ(response.server, server.url());
      const httplib::Request seen = server.last();
      EXPECT_EQ(seen.method, method);
      EXPECT_EQ(seen.target, "/x%2Fy/_doc/..?q=%20") << "the path is sent as it is";
      if (method != "GET") {  // of which httplib reads no body
        EXPECT_EQ(seen.body, body);
      }
      EXPECT_EQ(seen.get_header_value_count("Content-Type"), 1u);
      EXPECT_EQ(seen.get_header_value("Content-Type"), "application/json");
      EXPECT_FALSE(seen.has_header("Expect"));
      EXPECT_FALSE(seen.has_header("Authorization"));
      EXPECT_THAT(seen.get_header_value("User-Agent"), HasSubstr("lockstep/"));
    }
  }
  const HttpResponse head = transport->perform(request_of("HEAD", "/"));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(server.last().method, "HEAD");
  EXPECT_EQ(transport->perform(request_of("GET", "/404")).status, 404) << "any status is a reply";
}

TEST(CurlTransport, CompressesLargeBodiesWhenToldTo) {
  RecordingServer server;
  ElasticsearchConfig config = config_of({server.url()});
  const std::string large(100'000, 'x');
  make_transport_factory(config)()->perform(request_of("POST", "/_bulk", large));
  EXPECT_EQ(server.last().body, large);
  EXPECT_FALSE(server.last().has_header("Accept-Encoding"));

  config.compression = ElasticsearchConfig::Compression::kGzip;
  const auto transport = make_transport_factory(config)();
  for (int i = 0; i < 2; ++i) {
    transport->perform(request_of("POST", "/_bulk", large));
    EXPECT_EQ(server.last().get_header_value("Content-Encoding"), "gzip");
    EXPECT_EQ(server.last().get_header_value_count("Content-Type"), 1u);
    EXPECT_EQ(server.last().get_header_value("Accept-Encoding"), "gzip");
    transport->perform(request_of("POST", "/_bulk", "small"));
    EXPECT_FALSE(server.last().has_header("Content-Encoding"));
    EXPECT_EQ(server.last().body, "small");
  }
}

TEST(CurlTransport, AReplyLargerThanTheRequestAllowsIsCutOffAndTheNextRequestIsServed) {
  RecordingServer server;
  for (const auto compression :
       {ElasticsearchConfig::Compression::kNone, ElasticsearchConfig::Compression::kGzip}) {
    ElasticsearchConfig config = config_of({server.url()});
    config.compression = compression;
    const auto transport = make_transport_factory(config)();
    HttpRequest request = request_of("GET", "/large");
    request.most_reply_bytes = kLargeReply;
    EXPECT_EQ(transport->perform(request).body.size(), kLargeReply) << "just as large as is allowed";
    request.most_reply_bytes = kLargeReply - 1;
    try {
      transport->perform(request);
      ADD_FAILURE() << "it was not cut off";
    } catch (const ReplyTooLarge& reply) {
      EXPECT_GE(reply.bytes(), kLargeReply - 1);
      EXPECT_LE(reply.bytes(), kLargeReply);
      EXPECT_TRUE(reply.sent());
    }
    EXPECT_EQ(transport->perform(request_of("GET", "/")).body, "ok");
  }
}

TEST(CurlTransport, ALargeBodyIsNotHeldBackForAContinue) {
  RecordingServer server;
  const auto transport = make_transport_factory(config_of({server.url()}))();
  const std::string body(3'000'000, 'x');
  HttpRequest request = request_of("POST", "/_bulk", body);
  request.content_type = "application/x-ndjson";
  transport->perform(request);
  EXPECT_EQ(server.last().body.size(), body.size());
  EXPECT_FALSE(server.last().has_header("Expect"));
  EXPECT_EQ(server.last().get_header_value_count("Content-Type"), 1u);
  EXPECT_EQ(server.last().get_header_value("Content-Type"), "application/x-ndjson");
}

TEST(CurlTransport, SendsTheCredentialsAtOnce) {
  RecordingServer server;
  ElasticsearchConfig config = config_of({server.url()});
  config.api_key = Secret("a2V5");
  make_transport_factory(config)()->perform(request_of("GET", "/"));
  EXPECT_EQ(server.last().get_header_value("Authorization"), "ApiKey a2V5");

  config.api_key = {};
  config.username = "elastic";
  config.password = Secret("geheim");
  make_transport_factory(config)()->perform(request_of("GET", "/"));
  EXPECT_EQ(server.last().get_header_value("Authorization"), "Basic ZWxhc3RpYzpnZWhlaW0=");
}

TEST(CurlTransport, AnUrlsOwnCredentialsGoToThatUrlOnly) {
  RecordingServer one;
  RecordingServer two;
  const auto transport =
      make_transport_factory(config_of({"http://elastic:geheim@" + one.host(), two.url()}))();
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(transport->perform(request_of("GET", "/")).server, Not(HasSubstr("geheim")));
  }
  ASSERT_EQ(one.requests().size(), 2u);
  ASSERT_EQ(two.requests().size(), 2u);
  for (const httplib::Request& seen : one.requests()) {
    EXPECT_EQ(seen.get_header_value("Authorization"), "Basic ZWxhc3RpYzpnZWhlaW0=");
  }
  for (const httplib::Request& seen : two.requests()) EXPECT_FALSE(seen.has_header("Authorization"));
}

TEST(CurlTransport, AnUrlMayHaveAPath) {
  RecordingServer server;
  make_transport_factory(config_of({server.url() + "/search/"}))()->perform(request_of("GET", "/_bulk"));
  EXPECT_EQ(server.last().path, "/search/_bulk");
}

TEST(CurlTransport, ARefusedConnectionSentNothingAlsoAfterAGoodOne) {
  std::unique_ptr<HttpTransport> transport;
  std::string url;
  {
    RecordingServer server;
    url = server.url();
    transport = make_transport_factory(config_of({url}))();
    transport->perform(request_of("POST", "/", "{}"));
  }
  const TransportError error = failure_of(*transport, request_of("POST", "/", "{}"));
  EXPECT_FALSE(error.sent());
  EXPECT_THAT(error.what(), HasSubstr(url));
}

TEST(CurlTransport, ARefusedConnectionNamesElasticsearchAndTheRemedy) {
  const std::string url = unused_url();
  const TransportError error =
      failure_of(*make_transport_factory(config_of({url}))(), request_of("GET", "/"));
  EXPECT_STREQ(error.what(), ("Elasticsearch does not answer at " + url +
                              ": connection refused; start it, or correct [elasticsearch] urls")
                                 .c_str());
}

TEST(CurlTransport, ARequestThatNobodyTookGoesToTheNextServer) {
  RecordingServer server;
  const auto transport = make_transport_factory(config_of({unused_url(), unused_url(), server.url()}))();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(transport->perform(request_of("GET", "/")).server, server.url());
}

TEST(CurlTransport, WhenNobodyAnswersTheMessageNamesEveryServerAndNoSecret) {
  const std::string one = unused_url();
  const std::string two = unused_url();
  ElasticsearchConfig config = config_of({"http://u:geheim@" + one.substr(7), two});
  config.password = Secret("topsecret");
  const TransportError error =
      failure_of(*make_transport_factory(config)(), request_of("GET", "/?password=x"));
  EXPECT_FALSE(error.sent());
  EXPECT_THAT(error.what(), HasSubstr(one));
  EXPECT_THAT(error.what(), HasSubstr(two));
  EXPECT_THAT(error.what(), Not(HasSubstr("geheim")));
  EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
}

TEST(CurlTransport, ATimeOutMayHaveReachedTheServer) {
  RecordingServer server;
  const auto transport = make_transport_factory(config_of({server.url()}))();
  HttpRequest request = request_of("POST", "/hang", "{}");
  request.timeout = 200ms;
  const TransportError error = failure_of(*transport, request);
  EXPECT_TRUE(error.sent());
  EXPECT_THAT(error.what(), HasSubstr("no reply within 200 ms"));
  EXPECT_EQ(transport->perform(request_of("GET", "/")).status, 200) << "the transport goes on working";
}

TEST(CurlTransport, CancelEndsARequestAndAllLaterOnes) {
  RecordingServer server;
  const auto transport = make_transport_factory(config_of({server.url()}))();
  std::thread canceller([&] {
    support::wait_until([&] { return !server.requests().empty(); }, kDeadline);
    transport->cancel();
  });
  HttpRequest request = request_of("POST", "/hang", "{}");
  request.timeout = 3'600s;
  const TransportError error = failure_of(*transport, request);
  canceller.join();
  EXPECT_TRUE(error.sent());
  EXPECT_FALSE(failure_of(*transport, request_of("GET", "/")).sent());
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(CurlTransport, TransportsOfOneFactoryBeginWithDifferentServers) {
  RecordingServer one;
  RecordingServer two;
  const auto factory = make_transport_factory(config_of({one.url(), two.url()}));
  EXPECT_NE(factory()->perform(request_of("GET", "/")).server,
            factory()->perform(request_of("GET", "/")).server);
}

TEST(CurlTransport, RefusesUrlsThatAreNone) {
  for (const char* url :
       {"", "localhost:9200", "ftp://host", "http://", "http://a b", "postgresql://u:geheim@host"}) {
    try {
      make_transport_factory(config_of({url}));
      ADD_FAILURE() << url;
    } catch (const Error& error) {
      EXPECT_FALSE(error.retryable());
      EXPECT_THAT(error.what(), Not(HasSubstr("geheim")));
    }
  }
  EXPECT_THROW(make_transport_factory(config_of({})), Error);
}

TEST(CurlTransport, AFileThatIsMissingIsSaidInTheMessage) {
  ElasticsearchConfig config = config_of({"https://127.0.0.1:1"});
  config.ca_file = "/no/such/ca.crt";
  const TransportError error = failure_of(*make_transport_factory(config)(), request_of("GET", "/"));
  EXPECT_FALSE(error.sent());
}

}  // namespace
}  // namespace lockstep
