// What the passes find, and that no reply is large: the small documents come first, so nothing warns of the
// large ones that follow.
#include "replicator/pipeline/repair/passes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

constexpr std::size_t kLarge = 400'000;  // bytes of a document

std::string id_of(int number) {
  return std::to_string(100'000 + number);
}

class PassesTest : public testing::Test {
 protected:
  void put(int number, std::size_t bytes) { world_.put_post(id_of(number), std::string(bytes, 'x')); }

  /// Makes the index what the view is.
  void fill() {
    ASSERT_TRUE(Leader(world_).catch_up());
    ASSERT_EQ(world_.difference(), "");
  }

  void compare() {
    FakeSource source(world_.database);
    ElasticsearchClient elasticsearch(world_.elasticsearch.transports()());
    elasticsearch.refresh("posts");
    Passes passes({world_.config, [&] { return source.changes().read(); }, elasticsearch, world_.posts()},
                  {[this](std::int64_t documents) { read_ = documents; },
                   [this](Suspects suspects) {
                     note("missing", suspects.missing);
                     note("different", suspects.different);
                     note("surplus", suspects.surplus);
                   }});
    passes.compare_documents();
    compared_ = read_;
    documents_ = passes.look_for_missing();
  }

  World world_{1};  // one shard: the fake has its documents in the order of their ids
  std::set<std::string> found_;
  std::int64_t compared_ = 0;
  std::int64_t documents_ = 0;

 private:
  void note(const std::string& what, const std::vector<FoundDocument>& documents) {
    for (const FoundDocument& document : documents)
      EXPECT_TRUE(found_.insert(what + " " + document.id.text).second) << "found twice";
  }

  std::int64_t read_ = 0;
};

TEST_F(PassesTest, FindWhatIsMissingDifferentAndSurplus) {
  for (int i = 0; i < 30; ++i) put(i, 10);
  fill();
  world_.elasticsearch.damage("posts", id_of(3), std::nullopt);
  world_.elasticsearch.damage("posts", id_of(4), "{}");
  world_.elasticsearch.damage("posts", "surplus", "{}");
  compare();
  EXPECT_EQ(found_,
            (std::set<std::string>{"missing " + id_of(3), "different " + id_of(4), "surplus surplus"}));
  EXPECT_EQ(compared_, 30);
  EXPECT_EQ(documents_, 30);
}

TEST_F(PassesTest, AnEmptyIndexHasNothing) {
  compare();
  EXPECT_EQ(compared_, 0);
  EXPECT_TRUE(found_.empty());
}

// Pages went by the average size on the disk: a reply of 1.2 GB ended Elasticsearch.
TEST_F(PassesTest, LargeDocumentsBehindManySmallOnesMakeNoLargeReply) {
  for (int i = 0; i < 4'000; ++i) put(i, 10);
  for (int i = 4'000; i < 4'060; ++i) put(i, kLarge);
  for (int i = 4'060; i < 4'100; ++i) put(i, 10);
  fill();
  compare();
  EXPECT_TRUE(found_.empty());
  EXPECT_EQ(compared_, 4'100);
  EXPECT_LE(world_.elasticsearch.largest_reply(), kReplyBytes + kLarge);
}

TEST_F(PassesTest, DocumentsThatAreMuchLargerInTheIndexMakeNoLargeReply) {
  for (int i = 0; i < 60; ++i) put(i, 10);
  fill();
  const std::string large = R"({"text":")" + std::string(kLarge, 'y') + R"("})";
  for (int i = 0; i < 60; ++i) world_.elasticsearch.damage("posts", id_of(i), large);
  compare();
  EXPECT_EQ(found_.size(), 60u);
  EXPECT_LE(world_.elasticsearch.largest_reply(), 2 * kReplyBytes);
}

TEST_F(PassesTest, WhatTheViewDoesNotHaveIsNotReadHoweverLargeItIs) {
  const std::string large = R"({"text":")" + std::string(kLarge, 'y') + R"("})";
  for (int i = 0; i < 10; ++i) put(i, 10);
  fill();
  for (int i = 10; i < 40; ++i) world_.elasticsearch.damage("posts", id_of(i), large);
  compare();
  EXPECT_EQ(found_.size(), 30u);
  EXPECT_LE(world_.elasticsearch.largest_reply(), kLarge);
}

}  // namespace
}  // namespace lockstep::fake
