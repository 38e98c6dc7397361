// Elasticsearch has too much to do for a while: `verify` waits and goes on, and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "tests/support/blog_pipeline.h"
#include "tests/support/terminal.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;

constexpr const char* kBreaker =
    R"({"error":{"type":"circuit_breaking_exception","reason":"[parent] Data too large"},"status":429})";

using BusyElasticsearch = BlogTest;

TEST_F(BusyElasticsearch, VerifyAsksAgainWhateverItAsked) {
  bring_up();
  posts_.damage("1", std::nullopt);
  posts_.damage("2", R"({"title":"altered"})");
  std::mutex mutex;
  std::map<std::string, int> asked;  // by the end of the path
  proxy_.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
    const std::string path = request.target().substr(0, request.target().find('?'));
    if (request.method() == "DELETE") return std::nullopt;
    const std::lock_guard lock(mutex);
    const int before = asked[path.substr(path.rfind('/') + 1)]++;
    if (before == 0) return Disturbance{.status = 429, .body = kBreaker};
    if (before == 1) return Disturbance{.status = 503, .body = ""};
    return std::nullopt;
  });
  const Completed verified = pipeline_.lockstep("verify");
  proxy_.disturb({});
  EXPECT_EQ(verified.exit_code, 3) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("missing\t\"1\""));
  EXPECT_THAT(verified.out, HasSubstr("different\t\"2\""));
  for (const char* end : {"_refresh", "_count", "_search", "scroll", "_mget"})
    EXPECT_GE(asked[end], 3) << end << ": this test does not reach it";
}

TEST_F(BusyElasticsearch, VerifySaysOnATerminalWhatItWaitsFor) {
  bring_up();
  proxy_.disturb([](const HttpMessage& request) -> std::optional<Disturbance> {
    if (request.target().find("/_search") == std::string::npos) return std::nullopt;
    return Disturbance{.status = 429, .body = kBreaker};
  });
  Terminal terminal;
  terminal.type(shell_line(lockstep_program(), {"verify", "-c", pipeline_.configuration().string()}) + "\n");
  ASSERT_TRUE(terminal.shows("Elasticsearch is busy, waiting for", kPatience)) << terminal.screen();
  ASSERT_TRUE(terminal.shows("HTTP 429", kPatience)) << terminal.screen();
  proxy_.disturb({});
  EXPECT_TRUE(terminal.shows("documents compared, equal", kPatience)) << terminal.screen();
}

TEST_F(BusyElasticsearch, VerifyFailsWhenAPageOfTheScanIsLost) {
  bring_up();
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1 + i % 5, 'post' from generate_series(1001, "
      "7000) i");
  pipeline_.catch_up();
  std::atomic<int> pages = 0;
  proxy_.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
    const bool is_second =
        request.target().starts_with("/_search/scroll") && request.method() == "POST" && pages++ == 0;
    if (!is_second) return std::nullopt;
    // The server has moved on behind the page, as after a breaker between its two phases.
    posts_.server().expect("POST", "/_search/scroll", request.body);
    return Disturbance{.status = 429, .body = kBreaker};
  });
  const Completed verified = pipeline_.lockstep("verify");
  proxy_.disturb({});
  EXPECT_EQ(verified.exit_code, 1) << verified.out;
  EXPECT_THAT(verified.err, HasSubstr("documents; the scan has to begin again"));
}

}  // namespace
}  // namespace lockstep::support
