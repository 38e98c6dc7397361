#include "replicator/source/open_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

TEST(OpenSourceTest, EveryWayToOpenASourceRefusesAKindThatThisBuildDoesNotKnow) {
  Config config;
  config.source.kind = SourceConfig::Kind::kSqlite;
  const auto refusal = testing::ThrowsMessage<UsageError>(testing::HasSubstr("PostgreSQL only"));
  EXPECT_THAT([&] { require_known_kind(config.source); }, refusal);
  EXPECT_THAT([&] { open_source(config, "test"); }, refusal);
  EXPECT_THAT([&] { open_applied_watch(config); }, refusal);
  EXPECT_THAT([&] { open_status_reader(config); }, refusal);
  EXPECT_THAT([&] { open_source_definition(config); }, refusal);
}

TEST(OpenSourceTest, AKnownKindIsNotRefused) {
  EXPECT_NO_THROW(require_known_kind(SourceConfig{}));
}

}  // namespace
}  // namespace lockstep
