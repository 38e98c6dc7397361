#include "replicator/service/live_config.h"

#include <gmock/gmock.h>

#include "replicator/error.h"
#include "replicator/log/log.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

class LiveConfigTest : public testing::Test {
 protected:
  LiveConfigTest() { add_index("posts"); }

  void add_index(const std::string& alias) {
    IndexConfig index;
    index.alias = alias;
    config_.indices.push_back(index);
  }

  // What the log says of it.
  std::string reload(LiveConfig& live) {
    CaptureStderr();
    start_logging(LogFormat::kText, "info");
    live.reload([this] { return config_; });
    return GetCapturedStderr();
  }

  static BulkWriter::TransportFactory none(const ElasticsearchConfig& config) {
    if (config.urls.empty()) throw Error({"reading elasticsearch.urls", "there is none"});
    return {};
  }

  Config config_;
};

TEST_F(LiveConfigTest, NewCredentialsAndRatesReplaceWhatIsInForce) {
  LiveConfig live(config_, none);
  const LiveConfig::Values before = live.values();
  config_.elasticsearch.password = Secret("rotated");
  config_.replication.chunk_documents = 7;
  EXPECT_THAT(reload(live), HasSubstr("begins again"));
  EXPECT_TRUE(before.replaced.stop_requested());
  EXPECT_EQ(before.config->replication.chunk_documents, 2'000) << "it belongs to whoever works with it";
  const LiveConfig::Values after = live.values();
  EXPECT_FALSE(after.replaced.stop_requested());
  EXPECT_EQ(after.config->elasticsearch.password.value(), "rotated");
  EXPECT_EQ(after.config->replication.chunk_documents, 7);
}

TEST_F(LiveConfigTest, AnotherLogLevelCountsAtOnce) {
  LiveConfig live(config_, none);
  config_.log.level = "error";
  EXPECT_EQ(reload(live), "") << "it is below this level";
  EXPECT_EQ(live.values().config->log.level, "error");
}

TEST_F(LiveConfigTest, WhatNeedsARestartIsNamedAndNothingIsTakenOver) {
  LiveConfig live(config_, none);
  config_.pipeline = "other";
  config_.http.listen = "127.0.0.1:9464";
  config_.slo.lag = std::chrono::seconds(2);
  config_.log.format = LogFormat::kJson;
  add_index("users");
  config_.replication.chunk_documents = 7;
  EXPECT_THAT(reload(live),
              HasSubstr("pipeline, http.listen, slo.lag, log.format, the aliases of [[index]]"));
  EXPECT_EQ(live.values().config->pipeline, "lockstep");
  EXPECT_EQ(live.values().config->replication.chunk_documents, 2'000);
  EXPECT_FALSE(live.values().replaced.stop_requested());
}

TEST_F(LiveConfigTest, WhatCannotBeReadOrUsedChangesNothing) {
  LiveConfig live(config_, none);
  CaptureStderr();
  start_logging(LogFormat::kText, "info");
  live.reload([]() -> Config { throw UsageError("shop.toml:3: unknown key \"urll\""); });
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("shop.toml:3"));
  config_.elasticsearch.urls.clear();
  EXPECT_THAT(reload(live), HasSubstr("there is none"));
  EXPECT_FALSE(live.values().replaced.stop_requested());
  EXPECT_EQ(live.values().config->elasticsearch.urls.size(), 1u);
}

}  // namespace
}  // namespace lockstep
