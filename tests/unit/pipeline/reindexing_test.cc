#include "replicator/pipeline/reindexing.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::optional<DueList> due_since(std::int64_t number) {
  return DueList{.index = IndexId{1}, .documents = 1, .oldest = DueNumber{number}};
}

// The alias moved while both generations had something due, and searchers missed a change that a wait had
// waited for: the old generation had it already.
TEST(Reindexing, AGenerationIsBehindWhileItLacksWhatTheLiveOneHas) {
  EXPECT_TRUE(is_behind(due_since(7), due_since(8))) << "the live one has what was due since 7";
  EXPECT_TRUE(is_behind(due_since(7), std::nullopt));
  EXPECT_FALSE(is_behind(due_since(9), due_since(8))) << "the same change, of both";
  EXPECT_FALSE(is_behind(std::nullopt, due_since(8)));
  EXPECT_FALSE(is_behind(std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace lockstep
