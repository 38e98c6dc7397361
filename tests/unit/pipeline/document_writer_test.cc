#include "replicator/pipeline/document_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

class DocumentWriterTest : public testing::Test {
 protected:
  StepDocuments write(const std::string& id, const std::string& json = "{}") {
    StepDocuments documents(leader_.versions.epoch(), leader_.versions.next(), 100'000);
    documents.add(world_.posts(), {id, "", json, {}});
    return documents;
  }
  StepDocuments remove(const std::string& id) {
    StepDocuments documents(leader_.versions.epoch(), leader_.versions.next(), 100'000);
    documents.add(world_.posts(), {id, "", std::nullopt, {}});
    return documents;
  }
  void submit(StepDocuments documents, const std::string& position = "") {
    StepEnd end;
    if (!position.empty()) end.position = Position{position};
    leader_.writer.submit(Lane::tail(), std::move(documents), end);
  }
  Acknowledged taken() { return leader_.writer.take_acknowledged(); }

  World world_;
  Leader leader_{world_};
};

TEST_F(DocumentWriterTest, NothingIsAcknowledgedBeforeItsOutcomeIsKnown) {
  world_.elasticsearch.hold();
  submit(write("1"), "1");
  world_.elasticsearch.await_held(1);
  leader_.writer.take_outcomes(std::chrono::milliseconds(0));
  EXPECT_FALSE(leader_.writer.has_news());
  EXPECT_FALSE(leader_.writer.idle());
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().position, Position{"1"});
}

TEST_F(DocumentWriterTest, ADocumentInFlightIsWaitedFor) {  // W1
  world_.elasticsearch.hold();
  submit(write("1", "{\"n\":1}"));
  world_.elasticsearch.await_held(1);
  submit(write("1", "{\"n\":2}"));
  EXPECT_FALSE(leader_.writer.has_room());
  EXPECT_EQ(leader_.writer.requests_in_flight(), 1U);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_TRUE(world_.elasticsearch.overlaps().empty());
  EXPECT_EQ(world_.elasticsearch.get("posts", "1")->json, "{\"n\":2}");
}

TEST_F(DocumentWriterTest, ADocumentUnderAnotherRoutingIsWaitedFor) {  // W1: both may lead to one shard
  world_.elasticsearch.hold();
  submit(write("1"));
  world_.elasticsearch.await_held(1);
  StepDocuments moved(leader_.versions.epoch(), leader_.versions.next(), 100'000);
  moved.add(world_.posts(), {"1", "elsewhere", "{}", {}});
  submit(std::move(moved));
  EXPECT_EQ(leader_.writer.requests_in_flight(), 1U);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
}

TEST_F(DocumentWriterTest, OtherDocumentsDoNotWait) {
  world_.elasticsearch.hold();
  submit(write("1"));
  submit(write("2"));
  world_.elasticsearch.await_held(2);
  EXPECT_EQ(leader_.writer.requests_in_flight(), 2U);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
}

// W4: the loop used to stand still until the first write had its outcome.
TEST_F(DocumentWriterTest, AChangeOfADocumentWhoseWriteTakesLongIsParkedAndTheOthersGoOn) {
  world_.elasticsearch.hold();
  submit(write("1"), "1");
  world_.elasticsearch.await_held(1);
  StepDocuments both = write("1");
  both.add(world_.posts(), {"2", "", "{}", {}});
  submit(std::move(both), "2");
  const auto others_go_on = [&] {
    leader_.writer.take_outcomes(std::chrono::milliseconds(1));
    return leader_.writer.requests_in_flight() == 2;
  };
  ASSERT_TRUE(eventually(others_go_on));
  EXPECT_TRUE(leader_.writer.has_room());
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().position, Position{"2"});
  const auto parked = leader_.writer.take_parked();
  ASSERT_EQ(parked.at(kPosts).documents.size(), 1U);
  EXPECT_EQ(parked.at(kPosts).documents[0].id.text, "1");
  EXPECT_TRUE(world_.elasticsearch.overlaps().empty());
}

TEST_F(DocumentWriterTest, AnEmptyStepIsAcknowledgedAtOnce) {
  StepDocuments nothing(leader_.versions.epoch(), leader_.versions.next(), 100'000);
  submit(std::move(nothing), "3");
  EXPECT_EQ(taken().position, Position{"3"});
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 0U);
}

TEST_F(DocumentWriterTest, ALostReplyIsAskedForAgainAndTheSameVersionLandsTwice) {
  world_.elasticsearch.lose_next_reply();
  submit(write("1"), "1");
  ASSERT_TRUE(leader_.take_all_outcomes());
  const auto operations = world_.elasticsearch.operations_on("1");
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_EQ(operations[0].version, operations[1].version);
  EXPECT_EQ(taken().position, Position{"1"});
}

TEST_F(DocumentWriterTest, ARefusedDocumentIsADeadLetterAndThePositionMovesOn) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"), "1");
  ASSERT_TRUE(leader_.take_all_outcomes());
  const Acknowledged news = taken();
  EXPECT_EQ(news.position, Position{"1"});
  ASSERT_EQ(news.refused.size(), 1U);
  EXPECT_EQ(news.refused[0].id.text, "1");
  EXPECT_EQ(news.refused[0].status, 400);
  EXPECT_EQ(news.refused[0].error_type, "mapper_parsing_exception");
  EXPECT_EQ(leader_.board.read().indices[kPosts].refused, 1);
}

TEST_F(DocumentWriterTest, RefusedThenAppliedLeavesNoDeadLetter) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"));
  submit(write("1", "{\"n\":2}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.save();
  EXPECT_EQ(leader_.saved.back().refused.size(), 1U);
  EXPECT_EQ(leader_.saved.back().no_longer_refused.size(), 1U);
  EXPECT_EQ(leader_.dead_letters(kPosts), 0);
}

TEST_F(DocumentWriterTest, AppliedThenRefusedLeavesTheDeadLetter) {
  world_.elasticsearch.refuse("poison");
  leader_.writer.expect_dead_letters(kPosts);
  submit(write("1", "{\"n\":1}"));
  submit(write("1", "{\"poison\":2}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.save();
  EXPECT_EQ(leader_.dead_letters(kPosts), 1);
  EXPECT_EQ(world_.elasticsearch.get("posts", "1")->json, "{\"n\":1}") << "the last state that was taken";
}

TEST_F(DocumentWriterTest, ADeadLetterOfAnEarlierLeadershipGoesWhenItsDocumentIsApplied) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.save();
  Leader next(world_);
  StepDocuments documents(next.versions.epoch(), next.versions.next(), 100'000);
  documents.add(world_.posts(), {"1", "", "{\"n\":2}", {}});
  next.writer.submit(Lane::tail(), std::move(documents), {});
  ASSERT_TRUE(next.take_all_outcomes());
  next.save();
  EXPECT_EQ(next.dead_letters(kPosts), 0);
}

TEST_F(DocumentWriterTest, ADeletedDocumentTakesItsDeadLetterAlong) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"));
  submit(remove("1"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.save();
  EXPECT_EQ(leader_.dead_letters(kPosts), 0);
}

TEST_F(DocumentWriterTest, AppliedWritesAreReportedOnlyWhereThereAreDeadLetters) {
  submit(write("1"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_TRUE(taken().no_longer_refused.empty());
  leader_.writer.expect_dead_letters(kPosts);
  submit(write("1"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().no_longer_refused.size(), 1U);
  leader_.writer.expect_no_dead_letters(kPosts);
  submit(write("1"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_TRUE(taken().no_longer_refused.empty());
}

TEST_F(DocumentWriterTest, ARefusalThatIsNotSavedYetIsNotForgotten) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.writer.expect_no_dead_letters(kPosts);  // the source was asked before the letter was saved
  submit(write("1", "{}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().no_longer_refused.size(), 1U);
}

TEST_F(DocumentWriterTest, ASupersededWriteCountsAsDoneAndClearsNothing) {
  const StepDocuments older = write("1", "{\"n\":1}");
  submit(write("1", "{\"n\":2}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.writer.expect_dead_letters(kPosts);
  taken();
  submit(older, "9");
  ASSERT_TRUE(leader_.take_all_outcomes());
  const Acknowledged news = taken();
  EXPECT_EQ(news.position, Position{"9"});
  EXPECT_TRUE(news.no_longer_refused.empty());
  EXPECT_EQ(world_.elasticsearch.get("posts", "1")->json, "{\"n\":2}");
  EXPECT_EQ(leader_.board.read().indices[kPosts].superseded, 1);
}

// W5: it was taken for superseded, so the change was lost for good.
TEST_F(DocumentWriterTest, AWriteThatMeetsAForeignVersionIsParkedAndWrittenAgain) {
  submit(write("1", "{\"n\":1}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  for (int i = 0; i < 100; ++i) world_.elasticsearch.damage("posts", "1", "{\"n\":0}");
  std::vector<RecentWrites::Owner> owners;
  leader_.writer.on_foreign([&](const DocumentKey&, RecentWrites::Owner owner) { owners.push_back(owner); });
  submit(write("1", "{\"n\":2}"), "9");
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().position, Position{"9"}) << "the others go on";
  EXPECT_EQ(leader_.writer.take_parked().at(kPosts).documents.size(), 1U);
  EXPECT_EQ(owners, std::vector<RecentWrites::Owner>{RecentWrites::Owner::kOthers});
  EXPECT_EQ(leader_.board.read().indices[kPosts].superseded, 0);
}

TEST_F(DocumentWriterTest, TheBoardCountsWhatWasDone) {
  submit(write("1"));
  submit(write("2"));
  submit(remove("3"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  const ReplicationProgress progress = leader_.board.read();
  EXPECT_EQ(progress.indices.at(kPosts).documents, 2);
  EXPECT_EQ(progress.indices.at(kPosts).deletes, 1);
  EXPECT_EQ(progress.bulk_requests, 3);
  EXPECT_GT(progress.bulk_bytes, 0);
}

}  // namespace
}  // namespace lockstep::fake
