// A mapping that takes nothing is one mistake, not a million dead letters: too many refusals end the pipeline
// before they are saved, however often it is started again, and nothing is lost.
#include "replicator/pipeline/refused_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

using testing::HasSubstr;

class RefusedShareTest : public testing::Test {
 protected:
  /// What a save of so many documents gives, of which so many became dead letters.
  void count(RefusedShare& share, std::int64_t documents, int refused, IndexId index = kPosts,
             int status = 400) {
    Acknowledged acknowledged;
    acknowledged.documents[index] = documents;
    std::vector<std::size_t> fresh;
    for (int i = 0; i < refused; ++i) {
      DeadLetter letter;
      letter.index = index;
      letter.id.text = std::to_string(i);
      letter.status = status;
      letter.error_type = "mapper_parsing_exception";
      letter.reason = "failed to parse field [age] of type [long] in document with id '" + letter.id.text +
                      "'. Preview of field's value: 'secret'";
      acknowledged.refused.push_back(letter);
      fresh.push_back(acknowledged.refused.size() - 1);
    }
    share.count(acknowledged, fresh);
  }

  AppliedPipeline pipeline_ = test_pipeline();
};

TEST_F(RefusedShareTest, UpToTheShareItGoesOnAndAboveItStops) {
  RefusedShare share(0.25, pipeline_);
  count(share, 1'000, 250);
  EXPECT_THROW(count(share, 1'000, 251), Error);
}

TEST_F(RefusedShareTest, TheErrorNamesIndexNumbersFirstErrorAndRemedyAndIsNotTriedAgain) {
  RefusedShare share(0.5, pipeline_);
  try {
    count(share, 2'000, 1'001);
    FAIL() << "it has not stopped";
  } catch (const Error& error) {
    EXPECT_FALSE(error.retryable());
    for (const char* part :
         {"index posts", "2,000", "1,001", "max_refused_share = 0.5",
          "mapper_parsing_exception: failed to parse field [age] of type [long];", "fix the mapping"}) {
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("secret")));
  }
}

TEST_F(RefusedShareTest, WhatLockstepItselfRefusesIsNotSaidOfElasticsearch) {
  RefusedShare share(0.5, pipeline_);
  Acknowledged acknowledged;
  acknowledged.documents[kPosts] = 1'000;
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < 600; ++i) {
    DeadLetter letter;
    letter.index = kPosts;
    letter.id.text = std::to_string(i);
    letter.status = 400;
    letter.error_type = "invalid_document";
    letter.reason = "column album holds no JSON";
    acknowledged.refused.push_back(letter);
    fresh.push_back(i);
  }
  EXPECT_THAT(
      [&] { share.count(acknowledged, fresh); },
      testing::ThrowsMessage<Error>(testing::AllOf(
          HasSubstr("lockstep refuses 600"), HasSubstr("document 0: column album holds no JSON"),
          HasSubstr("fix the view or the configuration"), testing::Not(HasSubstr("Elasticsearch refuses")))));
}

TEST_F(RefusedShareTest, FewDocumentsAreNotJudgedBeforeTheyAreAThousand) {
  RefusedShare share(0.1, pipeline_);
  for (int i = 0; i < 999; ++i) count(share, 1, i < 200 ? 1 : 0);
  EXPECT_THROW(count(share, 1, 0), Error);
}

TEST_F(RefusedShareTest, AWindowThatHoldsIsForgotten) {
  RefusedShare share(0.5, pipeline_);
  count(share, 1'000, 500);
  count(share, 900, 0);
  count(share, 100, 100);
  count(share, 999, 999);
  EXPECT_THROW(count(share, 1, 1), Error);
}

TEST_F(RefusedShareTest, IndicesAreJudgedOneByOne) {
  RefusedShare share(0.5, pipeline_);
  count(share, 600, 600, kFiles);
  count(share, 10'000, 0, kPosts);
  EXPECT_THROW(count(share, 400, 400, kFiles), Error);
}

TEST_F(RefusedShareTest, WhatWasADeadLetterAlreadyDoesNotCount) {
  RefusedShare share(0, pipeline_);
  Acknowledged again;
  again.documents[kPosts] = 2'000;
  again.refused.resize(2'000);
  for (DeadLetter& letter : again.refused) letter.index = kPosts;
  EXPECT_NO_THROW(share.count(again, {}));
}

TEST_F(RefusedShareTest, WhatWasADeadLetterAlreadyHidesNothing) {
  RefusedShare share(0.5, pipeline_);
  Acknowledged again;
  again.documents[kPosts] = 2'000;
  again.refused.resize(2'000);
  for (DeadLetter& letter : again.refused) letter = {kPosts, {}, "", {}, 400, "", ""};
  share.count(again, {0});
  EXPECT_THROW(count(share, 999, 999), Error);
}

TEST_F(RefusedShareTest, AnOverloadSaysNothingOfTheMapping) {
  RefusedShare share(0.25, pipeline_);
  EXPECT_NO_THROW(count(share, 2'000, 2'000, kPosts, 429));
  EXPECT_NO_THROW(count(share, 2'000, 2'000, kPosts, 0)) << "there was no reply";
}

TEST_F(RefusedShareTest, AShareOfOneNeverStops) {
  RefusedShare share(1, pipeline_);
  EXPECT_NO_THROW(count(share, 5'000, 5'000));
}

class TooManyRefusals : public testing::Test {
 protected:
  TooManyRefusals() {
    world_.config.replication.chunk_documents = 200;
    world_.config.elasticsearch.bulk_bytes = 10'000;
    world_.elasticsearch.refuse("\"user\"");
  }

  std::size_t letters() const { return world_.database.state().dead_letters.size(); }

  /// The letters' documents are tried again, as `deadletters retry` does it.
  void retry() {
    std::vector<FoundDocument> documents;
    for (const auto& [key, stored] : world_.database.state().dead_letters)
      documents.push_back({stored.letter.id, stored.letter.routing});
    FakeSource source(world_.database);
    const auto transaction = source.changes().begin_repair();
    transaction->add_repair(world_.posts(), documents, {.reason = "a test"});
    transaction->commit();
  }

  void stops_and_goes_on_when_it_is_mended() {
    EXPECT_THROW(Leader(world_).catch_up(), Error);
    EXPECT_LT(letters(), 1'000U);
    const std::size_t after_the_first = letters();
    const std::size_t position = world_.database.state().position;
    for (int i = 0; i < 2; ++i) {
      EXPECT_THROW(Leader(world_).catch_up(), Error);
      EXPECT_EQ(letters(), after_the_first) << "starting it again adds dead letters";
      EXPECT_EQ(world_.database.state().position, position);
    }
    world_.elasticsearch.refuse("");
    EXPECT_TRUE(Leader(world_).catch_up());
    retry();
    EXPECT_TRUE(Leader(world_).catch_up());
    EXPECT_EQ(world_.difference(), "");
    EXPECT_EQ(letters(), 0U);
  }

  World world_;
};

TEST_F(TooManyRefusals, OfABackfillStopItAndNothingIsLost) {
  world_.add_silently(3'200);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  stops_and_goes_on_when_it_is_mended();
}

TEST_F(TooManyRefusals, OfABacklogStopItAndNothingIsLost) {
  for (int i = 0; i < 3'200; ++i) world_.put_post("p" + std::to_string(i), "ann", i);
  stops_and_goes_on_when_it_is_mended();
}

TEST_F(TooManyRefusals, OfLargeChangesStopItAndNothingIsLost) {
  for (int change = 0; change < 5; ++change) {
    world_.database.commit([&](Change& rows) {
      Values ids;
      for (int i = 0; i < 700; ++i) {
        ids.push_back("p" + std::to_string(change) + "." + std::to_string(i));
        rows.put(kPosts, ids.back(), R"({"user":"ann"})");
      }
      rows.captured(kPostRows, ids);
    });
  }
  stops_and_goes_on_when_it_is_mended();
}

TEST_F(TooManyRefusals, OfDocumentsThatHaveNoIdElasticsearchTakesStopItToo) {
  world_.database.commit([&](Change& change) {
    for (int i = 0; i < 1'400; ++i) change.put(kPosts, std::string(600, 'x') + std::to_string(i), "{}");
  });
  world_.database.add_job(kPosts, JobKind::kBackfill);
  EXPECT_THROW(Leader(world_).catch_up(), Error);
  EXPECT_LT(letters(), 1'000U);
}

TEST_F(TooManyRefusals, OfADeposedLeaderDoNotStopItAsALeader) {  // S5
  world_.config.replication.chunk_documents = 2'000;
  world_.config.elasticsearch.bulk_bytes = 1'000'000;
  world_.add_silently(1'200);
  world_.rename_user("ann", 1);
  Leader zombie(world_);
  ASSERT_TRUE(zombie.tail.turn());
  ASSERT_TRUE(zombie.take_all_outcomes());
  const Leader next(world_);
  EXPECT_THROW(zombie.save(), Deposed);
  EXPECT_EQ(letters(), 0U);
}

TEST_F(TooManyRefusals, TryingManyDeadLettersAgainInVainStopsNothing) {
  world_.config.replication.max_refused_share = 1;
  world_.add_silently(1'200);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  EXPECT_TRUE(Leader(world_).catch_up());
  EXPECT_EQ(letters(), 1'200U);
  world_.config.replication.max_refused_share = 0.5;
  retry();
  EXPECT_TRUE(Leader(world_).catch_up());
  EXPECT_EQ(letters(), 1'200U);
}

TEST_F(TooManyRefusals, FewThatComeAfterAStartArePutAsideWhenNothingElseIsToDo) {
  world_.put_post("1", "ann");
  EXPECT_TRUE(Leader(world_).catch_up());
  EXPECT_EQ(letters(), 1U);
  world_.put_post("2", "ann");
  EXPECT_TRUE(Leader(world_).catch_up());
  EXPECT_EQ(letters(), 2U);
  EXPECT_EQ(world_.database.state().position, world_.database.state().outbox.size());
}

TEST_F(TooManyRefusals, WhatIsNotSavedDuringATrialIsDoneAgain) {
  world_.put_post("1", "ann");
  EXPECT_TRUE(Leader(world_).catch_up());
  world_.put_post("2", "ann");
  {
    Leader leader(world_);
    EXPECT_TRUE(leader.tail.turn());
    ASSERT_TRUE(leader.take_all_outcomes());
    leader.save();  // a stop in the middle
    EXPECT_EQ(letters(), 1U);
    EXPECT_LT(world_.database.state().position, world_.database.state().outbox.size());
  }
  EXPECT_TRUE(Leader(world_).catch_up());
  EXPECT_EQ(letters(), 2U);
}

}  // namespace
}  // namespace lockstep::fake
