#include "replicator/source/open_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

TEST(OpenSourceTest, EveryWayToOpenASourceRefusesAKindThatThisBuildDoesNotKnow) {
  Config config;
  config.source.kind = static_cast<SourceConfig::Kind>(99);
  const auto refusal = testing::ThrowsMessage<UsageError>(testing::HasSubstr("knows no such database"));
  EXPECT_THAT([&] { require_known_kind(config.source); }, refusal);
  EXPECT_THAT([&] { open_source(config, "test"); }, refusal);
  EXPECT_THAT([&] { open_applied_watch(config); }, refusal);
  EXPECT_THAT([&] { open_status_reader(config); }, refusal);
  EXPECT_THAT([&] { open_source_definition(config); }, refusal);
}

TEST(OpenSourceTest, KnownKindsAreNotRefused) {
  for (const auto kind : {SourceConfig::Kind::kPostgresql, SourceConfig::Kind::kSqlite}) {
    SourceConfig source;
    source.kind = kind;
    EXPECT_NO_THROW(require_known_kind(source));
  }
}

TEST(OpenSourceTest, ASqliteFileThatIsNotThereIsNamedAndNotMade) {
  Config config;
  config.source.kind = SourceConfig::Kind::kSqlite;
  config.source.database = testing::TempDir() + "nobody_has_made_this.db";
  EXPECT_THAT([&] { open_source(config, "test"); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("there is no file")));
  EXPECT_FALSE(std::filesystem::exists(config.source.database));
}

}  // namespace
}  // namespace lockstep
