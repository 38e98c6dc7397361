#include "replicator/elasticsearch/read/reply_size.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep {
namespace {

constexpr std::size_t kMost = 2'000;

std::vector<std::size_t> all_of(std::size_t bytes, std::size_t documents = kMost) {
  return std::vector<std::size_t>(documents, bytes);
}

/// A size that has seen that documents are as large as expected.
ReplySize trusting() {
  ReplySize size(kMost);
  for (int i = 0; i < 6; ++i) {
    const auto asked = all_of(300, size.documents(all_of(300)));
    size.came(asked, asked.size() * 500);
  }
  return size;
}

TEST(ReplySize, BeginsWithFewAndSoonAsksForAll) {
  EXPECT_EQ(ReplySize(kMost).documents(all_of(300)), kCautiousRequest);
  EXPECT_EQ(trusting().documents(all_of(300)), kMost);
  EXPECT_EQ(trusting().documents(all_of(300, 7)), 7u);
}

TEST(ReplySize, GoesByTheSizeOfEachDocument) {
  std::vector<std::size_t> skewed = all_of(300, 1'000);
  skewed.resize(kMost, 2'000'000);
  EXPECT_EQ(trusting().documents(skewed), 1'000u);
  EXPECT_EQ(trusting().documents(all_of(50'000'000)), 1u) << "one comes, however large it is";
}

TEST(ReplySize, WhatIsLargerThanExpectedMakesTheNextRequestSmaller) {
  ReplySize size = trusting();
  const auto asked = all_of(300);
  size.came(asked, asked.size() * 3'000);
  EXPECT_LE(size.documents(all_of(300)) * 3'000, kReplyBytes + 3'000);
  EXPECT_GT(size.documents(all_of(300)), 100u);
}

TEST(ReplySize, WhatIsRefusedIsAskedForInHalvesAndInTheEndOneByOne) {
  ReplySize size = trusting();
  for (std::size_t documents = kMost; documents > 1; documents = size.documents(all_of(300))) {
    size.was_refused(documents);
    EXPECT_LE(size.documents(all_of(300)), std::max<std::size_t>(1, documents / 2));
  }
  size.was_refused(1);
  EXPECT_EQ(size.documents(all_of(300)), 1u);
}

TEST(ReplySize, DocumentsOfUnknownSizeStayBoundedToo) {
  ReplySize size(kMost);
  for (int i = 0; i < 10; ++i) {
    const auto asked = all_of(0, size.documents(all_of(0)));
    EXPECT_LE(asked.size() * 1'000'000, 2 * kReplyBytes);
    size.came(asked, asked.size() * 1'000'000);
  }
}

TEST(ReplySize, OneLargeDocumentDoesNotSlowItDownForLong) {
  ReplySize size = trusting();
  size.came(all_of(300, 1), 5'000'000);
  int requests = 0;
  while (size.documents(all_of(300)) < kMost) {
    const auto asked = all_of(300, size.documents(all_of(300)));
    size.came(asked, asked.size() * 500);
    ASSERT_LT(++requests, 20);
  }
}

}  // namespace
}  // namespace lockstep
