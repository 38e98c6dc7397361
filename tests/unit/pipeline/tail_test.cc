#include "replicator/pipeline/tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

class TailTest : public testing::Test {
 protected:
  /// Turns the tail until it finds nothing more; returns how often it worked.
  int follow(Leader& leader) {
    int turns = 0;
    while (true) {
      if (!eventually([&] {
            return leader.writer.take_outcomes(std::chrono::milliseconds(5)), leader.writer.has_room();
          }))
        return -1;
      if (!leader.tail.turn()) return turns;
      ++turns;
    }
  }

  /// A change that waits behind the request of the one before, which Elasticsearch holds.
  void gather_one(Leader& leader) {
    world_.elasticsearch.hold();
    ASSERT_TRUE(leader.tail.turn());
    world_.elasticsearch.await_held(1);
    world_.put_post("2", "ann");
    EXPECT_FALSE(leader.tail.turn());
  }

  World world_;
};

TEST_F(TailTest, ACommittedChangeReachesItsDocument) {
  world_.put_post("1", "ann", 1);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.put_post("1", "ann", 2);
  world_.put_post("2", "bob", 1);
  world_.remove_post("1");
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.database.state().position, 4U);
  EXPECT_EQ(leader.writer.acknowledgements().rows(), 4);
}

TEST_F(TailTest, NothingIsReadWhenNothingWasCommitted) {
  Leader leader(world_);
  int transactions = 0;
  world_.database.at_step([&](Step step) { transactions += step == Step::kBegin ? 1 : 0; });
  EXPECT_FALSE(leader.tail.turn());
  EXPECT_TRUE(leader.tail.at_end());
  EXPECT_EQ(transactions, 0);
}

TEST_F(TailTest, ADocumentIsRenderedAsItIsAndNotAsItWasWhenTheRowWasWritten) {
  world_.put_post("1", "ann", 1);
  world_.put_post("1", "ann", 2);
  world_.put_post("1", "ann", 3);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.elasticsearch.operations_on("1").size(), 1U) << "each document is named once a batch";
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, ALargeBatchIsReadInChunks) {
  world_.config.replication.chunk_documents = 10;
  for (int i = 0; i < 95; ++i) world_.put_post(std::to_string(i), "ann", i);
  Leader leader(world_);
  EXPECT_EQ(follow(leader), 10);
  EXPECT_EQ(leader.tail.batches(), 1);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, ABacklogLeavesNoSmallRequestBehindEachLargeOne) {
  world_.config.replication.chunk_documents = 200;
  world_.config.elasticsearch.bulk_bytes = 200 * 500 * 4 / 5;  // four fifths of a chunk
  for (int i = 0; i < 2'000; ++i) world_.put_post(std::to_string(i), std::string(400, 'x'), i);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_LE(world_.elasticsearch.bulk_requests(), 2'000U / 160U + 3U) << "two of each chunk would be twenty";
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, DocumentsLargerThanABulkAreRenderedOverSeveralTransactions) {
  world_.config.elasticsearch.bulk_bytes = 1'000;
  world_.add_silently(60);
  world_.rename_user("ann", 1);
  Leader leader(world_);
  EXPECT_TRUE(leader.tail.turn());
  EXPECT_FALSE(leader.tail.idle()) << "one change of 60 documents does not fit into one bulk";
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_LT(world_.elasticsearch.largest_bulk(), 1'500U);
}

TEST_F(TailTest, ThePositionWaitsForTheLastPartOfAChunk) {
  world_.config.elasticsearch.bulk_bytes = 1'000;
  world_.add_silently(60);
  world_.rename_user("ann", 1);
  Leader leader(world_);
  while (leader.tail.turn() && !leader.tail.idle()) {
    ASSERT_TRUE(leader.take_all_outcomes());
    EXPECT_FALSE(leader.writer.has_news()) << "a part of the chunk is acknowledged, the whole is not";
  }
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_EQ(leader.writer.take_acknowledged().position, Position{"1"});
}

TEST_F(TailTest, AChangeInOneIndexLeavesTheOtherAlone) {
  world_.put_file("f", "a", 1);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.elasticsearch.operations().size(), 1U);
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, RowsThatLeadToNoDocumentMoveThePosition) {
  world_.database.commit([](Change& change) { change.captured(kUserRows, {"nobody"}); });
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.database.state().position, 1U);
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 0U);
}

TEST_F(TailTest, AFanOutUpToTheThresholdStaysInTheTail) {
  world_.config.replication.fan_out_threshold = 20;
  world_.add_silently(20);
  world_.rename_user("ann", 1);
  Leader leader(world_);
  EXPECT_GE(follow(leader), 1);
  EXPECT_TRUE(world_.database.state().due.empty());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

// A small change of another index waited for all of them: for 35 seconds, behind a hundred of 5 MB.
TEST_F(TailTest, FewDocumentsThatAreLargeStepAside) {
  const std::string large(1'000'000, 'x');
  for (int i = 0; i < 40; ++i) world_.put_post(std::to_string(i), large);
  Leader leader(world_);
  ASSERT_TRUE(leader.tail.turn());
  world_.put_file("small", "a", 1);
  ASSERT_GE(follow(leader), 1);
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_EQ(world_.elasticsearch.operations_on("small").size(), 1U);
  EXPECT_LT(world_.elasticsearch.operations().size(), 20U);
  const State state = world_.database.state();
  ASSERT_EQ(state.due.at(kPosts).pages.size(), 1U);
  EXPECT_EQ(state.due.at(kPosts).pages.begin()->second.reason, "not many documents, but large ones");
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.elasticsearch.operations().size(), 41U);
}

// It was deleted without a routing first, which takes away what is there under the right one.
TEST_F(TailTest, ADocumentWithARoutingThatStepsAsideIsNotDeletedMeanwhile) {
  world_.database.commit([](Change& change) {
    const std::string json = "{\"n\":\"" + std::string(1'000'000, 'x') + "\"}";
    for (int i = 0; i < 40; ++i) change.put(kFiles, std::to_string(i), json, "r");
    for (int i = 0; i < 40; ++i) change.captured(kFileRows, {std::to_string(i)});
  });
  Leader leader(world_);
  ASSERT_GE(follow(leader), 1);
  ASSERT_TRUE(leader.jobs.is_due(kFiles)) << "none has stepped aside";
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  for (const Operation& operation : world_.elasticsearch.operations()) EXPECT_FALSE(operation.is_delete);
}

// Nine thousand addresses of pages in one statement held all indices up for six seconds.
TEST_F(TailTest, LongValuesAreNotLookedUpInTheTail) {
  const std::string long_name(2'000'000, 'n');
  world_.put_post("1", long_name);
  Leader leader(world_);
  ASSERT_GE(follow(leader), 1);
  ASSERT_TRUE(leader.catch_up());
  world_.rename_user(long_name, 1);
  world_.put_file("small", "a", 1);
  ASSERT_GE(follow(leader), 1);
  EXPECT_EQ(world_.database.state().due.size(), 1U);
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_EQ(world_.elasticsearch.operations_on("small").size(), 1U);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, AFanOutBeyondTheThresholdBecomesDueAndThePositionGoesOn) {
  world_.config.replication.fan_out_threshold = 20;
  world_.add_silently(21);
  world_.rename_user("ann", 1);
  world_.put_post("small", "bob");
  Leader leader(world_);
  EXPECT_EQ(follow(leader), 1);
  ASSERT_EQ(world_.database.state().due.at(kPosts).changes.size(), 1U);
  EXPECT_TRUE(eventually([&] {
    const std::optional<FoundDue> found = leader.changes.find_due(world_.posts());
    return found && found->documents == 21;
  }));
  EXPECT_EQ(world_.database.state().due.at(kPosts).documents(), 21U);
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_TRUE(world_.elasticsearch.get("posts", "small")) << "what changed with it does not wait for it";
  leader.save();
  EXPECT_EQ(world_.database.state().position, 2U);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(world_.database.state().due.empty());
}

TEST_F(TailTest, SmallChangesThatComeWithALargeOneAreAppliedAtOnceEachOnce) {
  world_.config.replication.fan_out_threshold = 20;
  Leader leader(world_);
  world_.add_silently(21, "ann");
  for (int i = 0; i < 9; ++i) {
    const std::string user = "user" + std::to_string(i);
    world_.put_post("post of " + user, user);
    world_.rename_user(user, 1);
  }
  world_.rename_user("ann", 1);
  EXPECT_EQ(follow(leader), 1);
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_EQ(world_.elasticsearch.operations_on("post of user0").size(), 1U);
  EXPECT_EQ(world_.elasticsearch.operations_on("post of user8").size(), 1U);
  EXPECT_TRUE(world_.elasticsearch.operations_on("p0000").empty());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, ALargeTransactionBecomesDueAndWhatComesAfterItIsAppliedAtOnce) {
  world_.config.replication.fan_out_threshold = 20;
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.put_post("before", "bob");
  world_.database.commit([](Change& change) {
    for (int i = 0; i < 21; ++i) {
      const std::string id = "many" + std::to_string(i);
      change.put(kPosts, id, R"({"user":"ann","n":1})").captured(kPostRows, {id});
    }
  });
  world_.put_post("many7", "ann", 2);
  world_.put_post("behind", "bob");
  EXPECT_EQ(follow(leader), 3) << "before it, itself, behind it";
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_TRUE(world_.elasticsearch.get("posts", "before"));
  EXPECT_TRUE(world_.elasticsearch.get("posts", "behind"));
  EXPECT_TRUE(world_.elasticsearch.get("posts", "many7")) << "its own, newer change";
  EXPECT_FALSE(world_.elasticsearch.get("posts", "many8"));
  leader.save();
  const State state = world_.database.state();
  EXPECT_EQ(state.position, state.outbox.size());
  EXPECT_EQ(state.due.size(), world_.pipeline.indices.size());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(world_.database.state().due.empty());
}

// Elasticsearch had nothing to do until two thousand documents were rendered.
TEST_F(TailTest, TheFirstStepAfterARestIsSmallAndTheNextOnesAreNot) {
  world_.add_silently(3'000);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.elasticsearch.hold();
  world_.rename_user("ann", 1);
  ASSERT_TRUE(leader.tail.turn());
  EXPECT_EQ(leader.writer.pending(kPosts), 500);
  ASSERT_TRUE(leader.tail.turn());
  EXPECT_EQ(leader.writer.pending(kPosts), 3'000);
  EXPECT_EQ(leader.writer.requests_in_flight(), 2U);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, ALargeTransactionWithATruncateMeansEveryDocumentToo) {
  world_.config.replication.fan_out_threshold = 20;
  world_.add_silently(5);
  Leader leader(world_);
  world_.database.commit([](Change& change) {
    for (int i = 0; i < 21; ++i) {
      const std::string id = "many" + std::to_string(i);
      change.put(kPosts, id, R"({"user":"ann","n":1})").captured(kPostRows, {id});
    }
    change.truncated(kUserRows);
  });
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, ATruncatedTableMeansEveryDocumentAndThoseThatNoViewHas) {
  for (int i = 0; i < 5; ++i) world_.put_post(std::to_string(i), "ann", i);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.database.commit([](Change& change) {
    for (const char* id : {"0", "1", "2", "3"}) change.remove(kPosts, id);
    change.put(kPosts, "4", R"({"user":null,"n":4})");
    change.truncated(kUserRows);
  });
  EXPECT_EQ(follow(leader), 1);
  std::vector<JobKind> kinds;
  for (const auto& [id, stored] : world_.database.state().jobs) kinds.push_back(stored.job.kind);
  EXPECT_THAT(kinds, testing::UnorderedElementsAre(JobKind::kBackfill, JobKind::kSweep));
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, ChangesBesideATruncateAreAppliedToo) {
  world_.add_silently(3);
  world_.database.commit([](Change& change) {
    change.put(kPosts, "beside", R"({"user":"bob","n":7})")
        .captured(kPostRows, {"beside"})
        .truncated(kUserRows);
  });
  Leader leader(world_);
  EXPECT_EQ(follow(leader), 1);
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_TRUE(world_.elasticsearch.get("posts", "beside").has_value());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, NothingIsShownToElasticsearchBeforeTheTransactionHasCommitted) {  // S4
  world_.put_file("f", "a", 1);
  Leader leader(world_);
  bool committed = false;
  world_.database.at_step([&](Step step) { committed = committed || step == Step::kCommitted; });
  world_.elasticsearch.intercept([&](const HttpRequest&) -> std::optional<HttpResponse> {
    EXPECT_TRUE(committed);
    EXPECT_EQ(world_.database.state().routes.size(), 1U) << "the routing is known before it is used (R1)";
    return std::nullopt;
  });
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, WhatIsDurableIsShownToElasticsearchWithoutACommitAndSavedLater) {
  world_.database.set_durable(true);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.put_post("a", "ann");
  int commits = 0;
  world_.database.at_step([&](Step step) { commits += step == Step::kCommitted; });
  ASSERT_TRUE(leader.tail.turn());
  EXPECT_EQ(commits, 0);
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_EQ(world_.difference(), "");
  ASSERT_TRUE(leader.catch_up());
  EXPECT_GT(commits, 0);
  EXPECT_EQ(world_.database.state().position, world_.database.state().outbox.size());
}

TEST_F(TailTest, ADeposedLeaderShowsNothingThatItReadsAfterwards) {  // S5
  world_.database.set_durable(true);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  leader.source.lead().raise_epoch({}, {});
  world_.put_post("a", "ann");
  EXPECT_THROW(leader.tail.turn(), Deposed);
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_FALSE(world_.elasticsearch.get("posts", "a"));
}

TEST_F(TailTest, ADocumentThatMovesIsDeletedWhereItWas) {
  world_.put_file("f", "a", 1);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.put_file("f", "b", 1);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.database.state().routes.size(), 1U) << "the old routing is forgotten when it is clean";
  world_.remove_file("f");
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(world_.database.state().routes.empty());
}

TEST_F(TailTest, ADocumentThatMovesThereAndBackIsWhereItBelongs) {
  Leader leader(world_);
  for (const char* routing : {"a", "b", "a", "c", "b"}) {
    world_.put_file("f", routing, 1);
    ASSERT_TRUE(leader.tail.turn());
    ASSERT_TRUE(leader.take_all_outcomes());
  }
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.database.state().routes.size(), 1U);
}

TEST_F(TailTest, ARoutingWhoseDeleteIsNotAcknowledgedStaysKnown) {
  world_.put_file("f", "a", 1);
  {
    Leader leader(world_);
    ASSERT_TRUE(leader.catch_up());
    world_.put_file("f", "b", 1);
    world_.elasticsearch.hold();
    ASSERT_TRUE(leader.tail.turn());
    world_.elasticsearch.await_held(1);
    world_.remove_file("f");
  }  // killed
  world_.elasticsearch.release();
  Leader next(world_);
  ASSERT_TRUE(next.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, SmallChangesGatherBehindTheOneBeforeUntilItIsAnswered) {
  world_.clock.stop();
  world_.put_post("1", "ann");
  Leader leader(world_);
  gather_one(leader);
  world_.put_post("3", "ann");
  EXPECT_FALSE(leader.tail.turn());
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 2U);
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, WhatGathersBehindASlowRequestGoesAfterFiveMilliseconds) {
  world_.clock.stop();
  world_.put_post("1", "ann");
  Leader leader(world_);
  gather_one(leader);
  world_.clock.advance(std::chrono::milliseconds(5));
  EXPECT_TRUE(leader.tail.turn());
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, ABacklogDoesNotGather) {
  world_.clock.stop();
  world_.config.replication.chunk_documents = 1;
  for (const char* id : {"1", "2"}) world_.put_post(id, "ann");
  Leader leader(world_);
  world_.elasticsearch.hold();
  EXPECT_TRUE(leader.tail.turn());
  EXPECT_TRUE(leader.tail.turn());
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, NoTransactionIsOpenedWhileElasticsearchHasNoRoom) {
  world_.config.elasticsearch.bulks_in_flight = 1;
  world_.put_post("1", "ann");
  Leader leader(world_);
  world_.elasticsearch.hold();
  ASSERT_TRUE(leader.tail.turn());
  world_.elasticsearch.await_held(1);
  world_.put_post("2", "ann");
  int transactions = 0;
  world_.database.at_step([&](Step step) { transactions += step == Step::kBegin ? 1 : 0; });
  EXPECT_FALSE(leader.tail.turn());
  EXPECT_EQ(transactions, 0);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(TailTest, AnIndexWithARoutingWhoseViewIsTooSlowIsToBeSetAside) {
  world_.put_file("a", "r", 1);
  Leader leader(world_);
  world_.database.at_step([&](Step step) {
    if (step == Step::kRender)
      throw ViewTooSlow({"rendering", "it took long", "", Retry::kLater, Server::kSource}, kFiles);
  });
  EXPECT_THROW(leader.tail.turn(), ViewError);
}

// As a database whose role has a lock_timeout does, or the tail's own limit.
TEST_F(TailTest, ChangesOfAViewThatIsTooSlowBecomeAJobAndTheOtherIndexGoesOn) {
  world_.put_post("1", "ann", 1);
  world_.put_file("a", "r", 1);
  Leader leader(world_);
  int renderings = 0;
  world_.database.at_step([&](Step step) {
    if (step == Step::kRender && ++renderings == 1)
      throw ViewTooSlow({"rendering", "it took long", "", Retry::kLater, Server::kSource}, kPosts);
  });
  EXPECT_TRUE(leader.tail.turn());
  EXPECT_TRUE(leader.tail.turn());
  EXPECT_EQ(renderings, 2) << "the posts were tried again";
  EXPECT_FALSE(leader.jobs.all_done());
  world_.put_post("2", "ann", 1);
  EXPECT_GE(follow(leader), 1);
  EXPECT_EQ(renderings, 2) << "later changes step aside at once";
  EXPECT_TRUE(leader.board.read().loop_reads.what.empty());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

}  // namespace
}  // namespace lockstep::fake
