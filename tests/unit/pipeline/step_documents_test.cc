// How a step's documents become bulk requests; seen from the other side, by what Elasticsearch is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/document_limits.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

RenderedDocument rendered(std::string_view id, std::optional<std::string_view> json,
                          std::string_view routing = {}, std::vector<std::string> stale = {}) {
  return {id, routing, json, std::move(stale)};
}

class StepDocumentsTest : public testing::Test {
 protected:
  StepDocuments step(std::int64_t counter = 5) const {
    return {leader_.versions.epoch(), counter, kBulkBytes};
  }

  void submit(StepDocuments documents) {
    leader_.writer.submit(Lane::tail(), std::move(documents), {});
    ASSERT_TRUE(leader_.take_all_outcomes());
  }
  Acknowledged taken() { return leader_.writer.take_acknowledged(); }

  static constexpr std::size_t kBulkBytes = 1'000;
  World world_;
  Leader leader_{world_};
};

TEST_F(StepDocumentsTest, ADocumentIsWrittenAndOneThatIsGoneIsDeleted) {
  StepDocuments documents = step();
  documents.add(world_.posts(), rendered("1", "{\"n\":1}"));
  documents.add(world_.posts(), rendered("2", std::nullopt));
  EXPECT_EQ(documents.size().documents, 2U);
  submit(std::move(documents));
  EXPECT_EQ(world_.elasticsearch.get("posts", "1")->json, "{\"n\":1}");
  EXPECT_TRUE(world_.elasticsearch.operations_on("2").at(0).is_delete);
}

// Elasticsearch 7.10 ended when it read it, again at each start.
TEST_F(StepDocumentsTest, ADocumentThatIsNestedTooDeepIsRefusedHere) {
  const auto nested = [](std::size_t levels) {
    return "{\"[[[\\\"[\": " + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  StepDocuments documents = step();
  const std::string deep = nested(kMaxDepth);
  const std::string too_deep = nested(kMaxDepth + 1);
  const std::string long_text = "{\"a\": \"" + std::string(5 * kMaxDepth, '[') + "\"}";
  documents.add(world_.posts(), rendered("1", deep));
  documents.add(world_.posts(), rendered("2", too_deep));
  documents.add(world_.posts(), rendered("3", long_text));
  submit(std::move(documents));
  const Acknowledged news = taken();
  ASSERT_EQ(news.refused.size(), 1U);
  EXPECT_EQ(news.refused[0].id.text, "2");
  EXPECT_EQ(news.refused[0].error_type, "document_too_deep");
}

TEST_F(StepDocumentsTest, AStepsWritesAreNewerThanItsDeletesOfOldRoutings) {  // W2
  StepDocuments documents = step();
  documents.add(world_.files(), rendered("f", "{}", "new", {"old"}));
  const DocumentVersion version = documents.version();
  submit(std::move(documents));
  const auto operations = world_.elasticsearch.operations_on("f");
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_TRUE(operations[0].is_delete);
  EXPECT_EQ(operations[0].routing, "old");
  EXPECT_EQ(operations[1].routing, "new");
  EXPECT_EQ(operations[1].version, version.value());
  EXPECT_LT(operations[0].version, operations[1].version);
}

TEST_F(StepDocumentsTest, ALaterStepsDeletesAreNewerThanAnEarlierStepsWrites) {  // W2
  const StepDocuments earlier = step(5);
  StepDocuments later = step(6);
  later.add(world_.files(), rendered("f", "{}", "new", {"old"}));
  const DocumentVersion earlier_write = earlier.version();
  submit(std::move(later));
  EXPECT_GT(world_.elasticsearch.operations_on("f").at(0).version, earlier_write.value());
}

TEST_F(StepDocumentsTest, ARepeatedDeleteOfAnOldRoutingDoesNotUndoTheWriteInTheSameShard) {  // W2
  Elasticsearch one_shard(1);
  one_shard.create("files", "the-identity");
  BulkWriter bulks({}, one_shard.transports());
  DocumentWriter writer(bulks, leader_.board, world_.pipeline);
  for (int i = 0; i < 2; ++i) {
    StepDocuments documents = step();
    documents.add(world_.files(), rendered("f", "{}", "new", {"old"}));
    writer.submit(Lane::tail(), std::move(documents), {});
    while (!writer.idle()) writer.take_outcomes(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(one_shard.get("files", "f", "new")->json, "{}");
  EXPECT_TRUE(writer.take_acknowledged().refused.empty());
}

TEST_F(StepDocumentsTest, ARoutedDocumentThatIsGoneIsDeletedUnderEachOfItsRoutingsAndNowhereElse) {
  StepDocuments documents = step();
  documents.add(world_.files(), rendered("f", std::nullopt, "", {"a", "b"}));
  submit(std::move(documents));
  const auto operations = world_.elasticsearch.operations_on("f");
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_TRUE(operations[0].is_delete && operations[1].is_delete);
  EXPECT_EQ(operations[0].routing, "a");
  EXPECT_EQ(operations[1].routing, "b");
}

TEST_F(StepDocumentsTest, AnIdThatElasticsearchCannotTakeIsADeadLetterAndTheOthersGoOn) {
  const std::string longest(512, 'x');
  const std::string too_long(513, 'x');
  StepDocuments documents = step();
  documents.add(world_.posts(), rendered(too_long, "{}"));
  documents.add(world_.posts(), rendered("", "{}"));
  documents.add(world_.posts(), rendered(longest, "{}"));
  const DocumentVersion version = documents.version();
  submit(std::move(documents));
  EXPECT_EQ(world_.elasticsearch.documents("posts").size(), 1U);
  const Acknowledged news = taken();
  ASSERT_EQ(news.refused.size(), 2U);
  EXPECT_EQ(news.refused[0].id.text, too_long);
  EXPECT_EQ(news.refused[0].index, kPosts);
  EXPECT_EQ(news.refused[0].version, version);
  EXPECT_EQ(news.refused[0].error_type, "invalid_document_id");
  EXPECT_THAT(news.refused[0].reason, testing::HasSubstr("513 bytes"));
  EXPECT_THAT(news.refused[1].reason, testing::HasSubstr("empty"));
}

TEST_F(StepDocumentsTest, ADocumentThatIsGoneIsNeverADeadLetterForItsId) {
  StepDocuments refused = step(5);
  refused.add(world_.posts(), rendered(std::string(600, 'x'), "{}"));
  submit(std::move(refused));
  StepDocuments gone = step(6);
  gone.add(world_.posts(), rendered(std::string(600, 'x'), std::nullopt));
  submit(std::move(gone));
  const Acknowledged news = taken();
  EXPECT_EQ(news.refused.size(), 1U);
  ASSERT_EQ(news.no_longer_refused.size(), 1U);
  EXPECT_GT(news.no_longer_refused[0].version, news.refused[0].version);
}

TEST_F(StepDocumentsTest, ABulkIsClosedWhenItHasReachedItsSize) {
  StepDocuments documents = step();
  const std::string json = "{\"text\":\"" + std::string(200, 'x') + "\"}";
  for (int i = 0; i < 20; ++i) documents.add(world_.posts(), rendered(std::to_string(i), json));
  EXPECT_GT(documents.size().bytes, 20 * json.size());
  submit(std::move(documents));
  EXPECT_EQ(world_.elasticsearch.documents("posts").size(), 20U);
  EXPECT_GE(world_.elasticsearch.bulk_requests(), 4U);
  EXPECT_LT(world_.elasticsearch.largest_bulk(), kBulkBytes + 400) << "one document past the limit at most";
}

TEST_F(StepDocumentsTest, ADocumentThatASweepFoundIsDeletedUnderTheRoutingWhereItWas) {
  world_.elasticsearch.damage("files", "f", "{}", "elsewhere");
  StepDocuments documents = step();
  documents.remove(world_.files(), {DocumentId{"f"}, "elsewhere"});
  submit(std::move(documents));
  EXPECT_TRUE(world_.elasticsearch.documents("files").empty());
  EXPECT_EQ(taken().gone_routes.at(0).routing, "elsewhere");
}

}  // namespace
}  // namespace lockstep::fake
