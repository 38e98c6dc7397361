#include "replicator/pipeline/tail_deletions.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

constexpr IndexId kIndex{1};

BulkRequest deletion_of(const std::string& id, std::int64_t number) {
  BulkRequest request;
  request.remove("posts", {kIndex, {id}, ""}, {Epoch{1}, number});
  return request;
}

BulkRequest write_of(const std::string& id, std::int64_t number, const std::string& routing = {}) {
  BulkRequest request;
  request.index("posts", {kIndex, {id}, routing}, {Epoch{1}, number}, "{}");
  return request;
}

TEST(TailDeletionsTest, AWriteBeforeTheDeletionIsOvertakenUnderWhateverRouting) {
  TailDeletions deletions;
  deletions.begin();
  deletions.note(deletion_of("a", 5));
  EXPECT_TRUE(deletions.has_newer(write_of("a", 4).items()[0]));
  EXPECT_TRUE(deletions.has_newer(write_of("a", 4, "routing").items()[0]));
  EXPECT_FALSE(deletions.has_newer(write_of("a", 6).items()[0]));
  EXPECT_FALSE(deletions.has_newer(write_of("b", 4).items()[0]));
  deletions.note(deletion_of("a", 3));
  EXPECT_TRUE(deletions.has_newer(write_of("a", 4).items()[0]));
}

TEST(TailDeletionsTest, WritesOvertakeNothing) {
  TailDeletions deletions;
  deletions.begin();
  deletions.note(write_of("a", 5));
  EXPECT_TRUE(deletions.empty());
}

TEST(TailDeletionsTest, NothingIsNotedWhileNoPageIsRead) {
  TailDeletions deletions;
  deletions.note(deletion_of("a", 5));
  EXPECT_TRUE(deletions.empty());
  deletions.begin();
  deletions.note(deletion_of("a", 5));
  deletions.end();
  EXPECT_TRUE(deletions.empty());
}

TEST(TailDeletionsTest, IsFullBeforeItTakesMuchMemory) {
  TailDeletions deletions;
  deletions.begin();
  for (int i = 0; !deletions.is_full(); ++i) {
    ASSERT_LE(i, 100'000);
    deletions.note(deletion_of(std::to_string(i), 5));
  }
  deletions.end();
  EXPECT_FALSE(deletions.is_full());
}

}  // namespace
}  // namespace lockstep
