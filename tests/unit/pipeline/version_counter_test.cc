#include "replicator/pipeline/version_counter.h"

#include <gtest/gtest.h>

#include "replicator/pipeline/step_documents.h"
#include "tests/support/fake_transaction.h"

namespace lockstep {
namespace {

DocumentVersion next_version(VersionCounter& versions) {
  fake::Database database;
  fake::Connection connection;
  fake::FakeTransaction transaction(database, connection, versions.epoch());
  return StepDocuments(versions.epoch(), versions.number(transaction), 1).version();
}

TEST(VersionCounterTest, RisesAboveAVersionOfItsEpoch) {
  VersionCounter versions(Epoch{3});
  for (const std::int64_t number : {1'000, 1'001}) {
    const DocumentVersion foreign(Epoch{3}, number);
    EXPECT_TRUE(versions.rise_above(foreign));
    EXPECT_GT(next_version(versions), foreign);
  }
}

TEST(VersionCounterTest, NeverFalls) {  // V1
  VersionCounter versions(Epoch{3});
  EXPECT_TRUE(versions.rise_above({Epoch{3}, 1'000}));
  const DocumentVersion before = next_version(versions);
  EXPECT_TRUE(versions.rise_above({Epoch{3}, 10}));
  EXPECT_TRUE(versions.rise_above({Epoch{2}, 10'000}));
  EXPECT_GT(next_version(versions), before);
}

TEST(VersionCounterTest, LeavesALaterEpochAndMostOfItsNumbersToAnotherLeadership) {
  VersionCounter versions(Epoch{3});
  EXPECT_FALSE(versions.rise_above({Epoch{4}, 1}));
  EXPECT_FALSE(versions.rise_above({Epoch{3}, (std::int64_t{1} << DocumentVersion::kCounterBits) - 1}));
  EXPECT_EQ(next_version(versions).value(), DocumentVersion(Epoch{3}, 3).value());
}

}  // namespace
}  // namespace lockstep
