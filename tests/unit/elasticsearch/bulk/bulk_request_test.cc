#include "replicator/elasticsearch/bulk/bulk_request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace lockstep {
namespace {

const DocumentVersion kVersion(Epoch{3}, 17);

std::vector<std::string> lines_of(const BulkRequest& request) {
  std::vector<std::string> lines;
  std::istringstream body(request.body());
  for (std::string line; std::getline(body, line);) lines.push_back(line);
  return lines;
}

nlohmann::json action_of(const BulkRequest& request, const std::string& action) {
  return nlohmann::json::parse(lines_of(request).at(0)).at(action);
}

TEST(BulkRequest, WritesTheActionLineThatElasticsearchExpects) {
  BulkRequest request;
  request.index("posts", {1, "42", "user 7"}, kVersion, R"({"title":"x"})");
  EXPECT_EQ(request.body(),
            R"({"index":{"_index":"posts","_id":"42","routing":"user 7","version":3298534883345,)"
            R"("version_type":"external_gte"}})"
            "\n"
            R"({"title":"x"})"
            "\n");
}

TEST(BulkRequest, LeavesOutAnEmptyRoutingAndTheDocumentOfADelete) {
  BulkRequest request;
  request.remove("posts", {1, "42", ""}, kVersion);
  EXPECT_EQ(
      request.body(),
      R"({"delete":{"_index":"posts","_id":"42","version":3298534883345,"version_type":"external_gte"}})"
      "\n");
}

TEST(BulkRequest, EmptyOneHasNoBytes) {
  const BulkRequest request;
  EXPECT_TRUE(request.empty());
  EXPECT_EQ(request.bytes(), 0u);
}

// One that grows doubles what it holds, and has it twice meanwhile.
TEST(BulkRequest, ABodyOfALargeDocumentTakesNoMoreThanTheDocument) {
  const std::string json = "{\"body\":\"" + std::string(5'000'000, 'x') + "\"}";
  BulkRequest request;
  request.index("posts", {1, "42", ""}, kVersion, json);
  EXPECT_LT(request.body().capacity(), json.size() + 1'000);
}

class BulkRequestId : public testing::TestWithParam<std::string> {};

TEST_P(BulkRequestId, SurvivesInIdAndRoutingOnOneLine) {
  BulkRequest request;
  request.index("posts", {1, GetParam(), GetParam()}, kVersion, "{}");
  ASSERT_EQ(std::count(request.body().begin(), request.body().end(), '\n'), 2);
  const nlohmann::json action = action_of(request, "index");
  EXPECT_EQ(action.at("_id").get<std::string>(), GetParam());
  EXPECT_EQ(action.at("routing").get<std::string>(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Awkward, BulkRequestId,
                         testing::Values("a b", "a/b", R"(a"b)", R"(a\b)", "a%20b", "a\nb", "a\r\nb", "\t",
                                         std::string("a\0b", 3), "東京", "\u2028\u2029", "😀", "{}", "}}\n{",
                                         std::string(kMaxIdBytes, 'x'), std::string(kMaxIdBytes, '"')));

TEST(BulkRequest, LineFeedsInTheDocumentBecomeSpaces) {
  BulkRequest request;
  request.index("posts", {1, "1", ""}, kVersion, "\n{\n\"a\":\r\n[1,\n2]\n}\n");
  ASSERT_EQ(lines_of(request).size(), 2u);
  EXPECT_EQ(lines_of(request)[1], " { \"a\":\r [1, 2] } ");
}

TEST(BulkRequest, PassesTheBytesOfADocumentThrough) {
  const std::string document = "{ \"a\" : 1.10,\"a\":\"\u2028\\n\", \"b\":1e400}";
  BulkRequest request;
  request.index("posts", {1, "1", ""}, kVersion, document);
  EXPECT_EQ(lines_of(request)[1], document);
}

TEST(BulkRequest, SubsetHoldsTheLinesOfItsItems) {
  BulkRequest request;
  request.index("posts", {1, "a", ""}, kVersion, R"({"n":1})");
  request.remove("posts", {1, "b", ""}, kVersion);
  request.index("posts", {1, "c", "r"}, kVersion, R"({"n":3})");

  const BulkRequest part = request.subset({1, 2});

  ASSERT_EQ(part.items().size(), 2u);
  EXPECT_EQ(part.items()[0].key, (DocumentKey{1, "b", ""}));
  EXPECT_EQ(part.items()[0].action, BulkAction::kDelete);
  EXPECT_EQ(part.items()[1].key, (DocumentKey{1, "c", "r"}));
  EXPECT_EQ(part.items()[1].version, kVersion);
  EXPECT_EQ(part.lines(0), request.lines(1));
  EXPECT_EQ(part.lines(1), request.lines(2));
  EXPECT_EQ(part.body(), std::string(request.lines(1)) + std::string(request.lines(2)));
  EXPECT_TRUE(request.subset({}).empty());
}

TEST(BulkRequest, ThatOnlyDeletesNeedsAGuard) {
  BulkRequest request;
  EXPECT_FALSE(request.needs_guard());
  request.index("posts", {1, "a", ""}, kVersion, "{}");
  request.remove("posts", {1, "b", ""}, kVersion);

  EXPECT_FALSE(request.needs_guard());
  const BulkRequest part = request.subset({1});
  EXPECT_TRUE(part.needs_guard()) << "a part needs its own";
  EXPECT_EQ(
      part.guard_lines(),
      R"({"index":{"_index":"posts","_id":"lockstep-guard","if_seq_no":9007199254740991,"if_primary_term":1}})"
      "\n{}\n");
}

TEST(BulkRequest, IsOfOneIndex) {
  BulkRequest request;
  request.index("posts", {1, "a", ""}, kVersion, "{}");
  EXPECT_THROW(request.index("users", {2, "a", ""}, kVersion, "{}"), std::logic_error);
  EXPECT_THROW(request.remove("posts", {2, "b", ""}, kVersion), std::logic_error);
  EXPECT_EQ(request.items().size(), 1u);
}

TEST(BulkRequest, WhatIsSplitOffAndWhatIsLeftAreTheSubsetsOfThese) {
  constexpr std::size_t kItems = 6;
  for (std::size_t chosen = 0; chosen < 1U << kItems; ++chosen) {
    BulkRequest request;
    for (std::size_t i = 0; i < kItems; ++i) {
      const DocumentKey key{1, DocumentId{std::to_string(i)}, ""};
      if (i % 2 == 0) {
        request.index("posts", key, DocumentVersion(Epoch{1}, 5),
                      "{\"n\":\"" + std::string(i * 7, 'x') + "\"}");
      } else {
        request.remove("posts", key, DocumentVersion(Epoch{1}, 5));
      }
    }
    std::vector<std::size_t> off;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < kItems; ++i) ((chosen >> i & 1) != 0 ? off : left).push_back(i);
    const BulkRequest expected_off = request.subset(off);
    const BulkRequest expected_left = request.subset(left);
    const BulkRequest part = request.split_off(off);
    const auto expect_equal = [](const BulkRequest& is, const BulkRequest& expected) {
      EXPECT_EQ(is.body(), expected.body());
      EXPECT_EQ(is.needs_guard(), expected.needs_guard());
      EXPECT_EQ(is.guard_lines(), expected.guard_lines());
      ASSERT_EQ(is.items().size(), expected.items().size());
      for (std::size_t i = 0; i < is.items().size(); ++i) {
        EXPECT_EQ(is.items()[i].key, expected.items()[i].key);
        EXPECT_EQ(is.lines(i), expected.lines(i));
      }
    };
    expect_equal(part, expected_off);
    expect_equal(request, expected_left);
  }
}

}  // namespace
}  // namespace lockstep
