#include "replicator/elasticsearch/transport/busy_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const HttpResponse kBusy{429, R"({"error":{"type":"es_rejected_execution_exception","reason":"full"}})"};

TEST(BusyWait, WithoutALimitTheErrorComesAtOnce) {
  Script script{{kBusy}, {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_THROW(client.count("posts"), Error);
  EXPECT_EQ(script.requests.size(), 1u);
}

TEST(BusyWait, ARequestIsSentAgainUntilTheServerHasTime) {
  Script script{{kBusy, {503, ""}, {200, R"({"count":7,"_shards":{"total":1,"successful":1,"failed":0}})"}},
                {}};
  std::vector<std::chrono::milliseconds> waited;
  ElasticsearchClient client = patient_client_of(
      script, {.limit = 30s, .waiting = [&](const Error&, auto time) { waited.push_back(time); }});
  EXPECT_EQ(client.count("posts"), 7);
  ASSERT_EQ(waited.size(), 2u);
  EXPECT_EQ(waited[0], 0ms);
  EXPECT_GE(waited[1], 50ms);
}

TEST(BusyWait, EndsWithTheServersWordsWhenTheLimitHasPassed) {
  Script script;
  for (int i = 0; i < 100; ++i) script.answers.push_back(kBusy);
  ElasticsearchClient client = patient_client_of(script, {.limit = 200ms});
  try {
    client.count("posts");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("es_rejected_execution_exception: full (asked again for 0 s)"));
  }
  EXPECT_GE(script.requests.size(), 2u);
  EXPECT_LE(script.requests.size(), 6u) << "each wait is at least 50 ms";
}

TEST(BusyWait, EachRequestHasTheWholeLimit) {
  const WhenBusy when_busy{.limit = 100ms};
  const Error busy({"reading", "HTTP 429", "", Retry::kLater, Server::kElasticsearch});
  BusyWait wait(when_busy);
  EXPECT_THROW(
      {
        while (true) wait.before_next_try(busy);
      },
      Error);
  wait.over();
  EXPECT_NO_THROW(wait.before_next_try(busy));
}

TEST(BusyWait, OtherErrorsAreNotWaitedFor) {
  for (const int status : {400, 403, 404, 500, 504}) {
    Script script{{{status, "{}"}}, {}};
    ElasticsearchClient client = patient_client_of(script);
    EXPECT_THROW(client.count("posts"), Error) << status;
    EXPECT_EQ(script.requests.size(), 1u);
  }
  Script silent;
  ElasticsearchClient client = patient_client_of(silent);
  EXPECT_THROW(client.count("posts"), Error) << "no reply";
  EXPECT_EQ(silent.requests.size(), 1u);
}

}  // namespace
}  // namespace lockstep
