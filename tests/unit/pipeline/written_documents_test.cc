#include "replicator/pipeline/written_documents.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace {

constexpr IndexId kPosts{1};

DocumentVersion version(std::int64_t counter) {
  return {Epoch{7}, counter};
}

TEST(WrittenDocuments, ADocumentIsThereUnderItsVersionAndLesserOnes) {
  WrittenDocuments written;
  EXPECT_FALSE(written.has(kPosts, {"1"}, version(1)));
  written.add(kPosts, {"1"}, version(5));
  EXPECT_TRUE(written.has(kPosts, {"1"}, version(4)));
  EXPECT_TRUE(written.has(kPosts, {"1"}, version(5)));
  EXPECT_FALSE(written.has(kPosts, {"1"}, version(6)));
  EXPECT_FALSE(written.has({2}, {"1"}, version(4))) << "of another index";
}

TEST(WrittenDocuments, AnOlderOutcomeThatComesLateChangesNothing) {
  WrittenDocuments written;
  written.add(kPosts, {"1"}, version(5));
  written.add(kPosts, {"1"}, version(3));
  EXPECT_TRUE(written.has(kPosts, {"1"}, version(5)));
}

TEST(WrittenDocuments, ItRemembersTheLastOnesAndNotManyMore) {
  WrittenDocuments written;
  constexpr int kMany = 200'000;
  for (int i = 0; i < kMany; ++i) written.add(kPosts, {std::to_string(i)}, version(i));
  std::size_t known = 0;
  for (int i = 0; i < kMany; ++i) known += written.has(kPosts, {std::to_string(i)}, version(i)) ? 1 : 0;
  EXPECT_GE(known, WrittenDocuments::kRemembered);
  EXPECT_LE(known, 2 * WrittenDocuments::kRemembered);
  EXPECT_TRUE(written.has(kPosts, {std::to_string(kMany - 1)}, version(kMany - 1)));
}

}  // namespace
}  // namespace lockstep
