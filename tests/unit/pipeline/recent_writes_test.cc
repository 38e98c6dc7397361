#include "replicator/pipeline/recent_writes.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using Owner = RecentWrites::Owner;

DocumentVersion version_at(std::int64_t counter) {
  return {Epoch{7}, counter};
}

TEST(RecentWritesTest, AVersionThatNobodyHasSentIsAnothers) {
  RecentWrites writes;
  EXPECT_EQ(writes.owner_of_newer(1, version_at(5)), Owner::kOthers);
  writes.add(1, version_at(5));
  EXPECT_EQ(writes.owner_of_newer(1, version_at(5)), Owner::kOthers) << "its own version is not newer";
}

TEST(RecentWritesTest, ANewerWriteOfTheDocumentIsOurs) {
  RecentWrites writes;
  writes.add(1, version_at(9));
  writes.add(1, version_at(6));  // a job's page
  EXPECT_EQ(writes.owner_of_newer(1, version_at(6)), Owner::kUs);
  EXPECT_EQ(writes.owner_of_newer(2, version_at(6)), Owner::kOthers) << "of another document";
}

TEST(RecentWritesTest, WhatIsForgottenIsUnknownNotAnothers) {
  RecentWrites writes;
  writes.add(1, version_at(9));
  for (std::size_t document = 2; document < 200'000; ++document) writes.add(document, version_at(10));
  EXPECT_EQ(writes.owner_of_newer(1, version_at(6)), Owner::kUnknown);
  EXPECT_EQ(writes.owner_of_newer(1, version_at(11)), Owner::kOthers) << "none of ours was newer";
}

}  // namespace
}  // namespace lockstep
