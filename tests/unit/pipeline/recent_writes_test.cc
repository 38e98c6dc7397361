#include "replicator/pipeline/recent_writes.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using Owner = RecentWrites::Owner;

DocumentVersion version_at(std::int64_t counter) {
  return {Epoch{7}, counter};
}

/// More than are remembered, at version 10, of documents from 2 on.
void write_many_others(RecentWrites& writes) {
  for (std::size_t document = 2; document < 200'000; ++document) writes.add(document, version_at(10), false);
}

TEST(RecentWritesTest, AVersionThatNobodyHasSentIsAnothers) {
  RecentWrites writes;
  EXPECT_EQ(writes.owner_of_newer(1, version_at(5)), Owner::kOthers);
  writes.add(1, version_at(5), false);
  EXPECT_EQ(writes.owner_of_newer(1, version_at(5)), Owner::kOthers) << "its own version is not newer";
}

TEST(RecentWritesTest, ANewerWriteOfTheDocumentIsOurs) {
  RecentWrites writes;
  writes.add(1, version_at(9), false);
  writes.add(1, version_at(6), false);  // a job's page
  EXPECT_EQ(writes.owner_of_newer(1, version_at(6)), Owner::kUs);
  EXPECT_EQ(writes.owner_of_newer(2, version_at(6)), Owner::kOthers) << "of another document";
}

TEST(RecentWritesTest, WhatIsForgottenIsUnknownNotAnothers) {
  RecentWrites writes;
  writes.add(1, version_at(9), false);
  write_many_others(writes);
  EXPECT_EQ(writes.owner_of_newer(1, version_at(6)), Owner::kUnknown);
  EXPECT_EQ(writes.owner_of_newer(1, version_at(11)), Owner::kOthers) << "none of ours was newer";
}

TEST(RecentWritesTest, ADeletionIsKnownThoughTheDocumentWasWrittenBehindIt) {  // under another routing
  RecentWrites writes;
  writes.add(1, version_at(8), true);
  writes.add(1, version_at(9), false);
  EXPECT_EQ(writes.owner_of_newer_deletion(1, version_at(7)), Owner::kUs);
  EXPECT_EQ(writes.owner_of_newer_deletion(1, version_at(8)), Owner::kOthers);
  EXPECT_EQ(writes.owner_of_newer_deletion(2, version_at(7)), Owner::kOthers) << "of another document";
}

TEST(RecentWritesTest, ADeletionThatIsForgottenMayHaveBeen) {
  RecentWrites writes;
  writes.add(1, version_at(9), true);
  write_many_others(writes);
  EXPECT_EQ(writes.owner_of_newer_deletion(1, version_at(6)), Owner::kUnknown);
  EXPECT_EQ(writes.owner_of_newer_deletion(1, version_at(9)), Owner::kOthers) << "the others were written";
}

}  // namespace
}  // namespace lockstep
