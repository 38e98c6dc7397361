#include "replicator/document_version.h"

#include <gtest/gtest.h>

#include <limits>

namespace lockstep {
namespace {

TEST(DocumentVersionTest, AGreaterCounterIsAGreaterVersion) {
  EXPECT_LT(DocumentVersion(Epoch{3}, 7), DocumentVersion(Epoch{3}, 8));
}

TEST(DocumentVersionTest, AGreaterEpochBeatsEveryCounter) {
  const std::int64_t last = (std::int64_t{1} << DocumentVersion::kCounterBits) - 1;
  EXPECT_LT(DocumentVersion(Epoch{3}, last), DocumentVersion(Epoch{4}, 0));
}

TEST(DocumentVersionTest, TheGreatestIsWithinWhatElasticsearchAllows) {
  const std::int64_t last = (std::int64_t{1} << DocumentVersion::kCounterBits) - 1;
  const DocumentVersion greatest(Epoch{DocumentVersion::kMaxEpoch}, last);
  EXPECT_GT(greatest.value(), 0);
  EXPECT_LT(greatest.value(), std::numeric_limits<std::int64_t>::max());
}

TEST(DocumentVersionTest, GivesBackItsEpochAndItsValue) {
  const DocumentVersion version(Epoch{41}, 1'000'000);
  EXPECT_EQ(version.epoch(), Epoch{41});
  EXPECT_EQ(DocumentVersion::from_value(version.value()), version);
}

TEST(DocumentVersionTest, NoneIsBelowEveryWrite) {
  EXPECT_LT(DocumentVersion(), DocumentVersion(Epoch{1}, 0));
}

}  // namespace
}  // namespace lockstep
