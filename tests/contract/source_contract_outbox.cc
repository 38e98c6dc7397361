// The care of the outbox: pruning, its limit, and whether changes still get into it.
#include <gmock/gmock.h>

#include <algorithm>

#include "replicator/source/outbox/full_outbox.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(SourceContract, WhatIsPassedIsPruned) {
  lead();
  writer_->begin();
  for (int i = 1; i <= 500; ++i) writer_->insert_thing(i, 0);
  writer_->commit();
  drain();
  world_->age_outbox();
  EXPECT_TRUE(becomes_smaller_by_pruning());
  writer_->insert_thing(1000, 0);
  EXPECT_EQ(drain(), (Reported{{"1000", 1}}));
}

TEST_P(SourceContract, WhatNobodyHasReadIsNotPruned) {
  lead();
  writer_->insert_thing(1, 0);
  drain();
  writer_->insert_thing(2, 0);
  writer_->insert_thing(3, 0);
  world_->age_outbox();
  source_->outbox().prune();
  source_->outbox().keep_small();
  EXPECT_EQ(drain(), (Reported{{"2", 1}, {"3", 1}}));
}

TEST_P(SourceContract, AFullOutboxLeavesChangesOutUntilItIsResumed) {
  lead();
  finish_jobs();
  EXPECT_FALSE(source_->outbox().has_given_up());
  writer_->insert_thing(1, 0);
  world_->fill_outbox();
  EXPECT_TRUE(source_->outbox().has_given_up());
  EXPECT_TRUE(other()->outbox().has_given_up());
  writer_->insert_thing(2, 0);
  for (const CapturedChange& change : begin()->read_changes(position_, {1'000'000}).captured)
    EXPECT_EQ(std::count(change.values.begin(), change.values.end(), "2"), 0);
  EXPECT_TRUE(becomes_true([&] { return source_->outbox().resume(); }));
  EXPECT_FALSE(source_->outbox().has_given_up());
  for (const AppliedIndex& index : source_->pipeline().indices) {
    const auto comparisons = jobs_of(index.id, JobKind::kComparison);
    ASSERT_EQ(comparisons.size(), 1U) << index.alias;
    EXPECT_EQ(comparisons[0].reason, kOutboxWasFull) << "by which the leader knows that changes were dropped";
    EXPECT_EQ(jobs_of(index.id, JobKind::kSweep).size(), 1U) << index.alias;
  }
  position_ = source_->changes().checkpoint();
  writer_->insert_thing(3, 0);
  EXPECT_EQ(drain(), (Reported{{"3", 1}})) << "the comparisons do for all that was before";
}

TEST_P(ConcurrentSourceContract, AnUncapturedTransactionThatIsOpenIsWaitedFor) {
  lead();
  world_->fill_outbox();
  const auto late = world_->writer();
  late->begin();
  late->insert_thing(1, 0);
  EXPECT_FALSE(source_->outbox().resume());
  EXPECT_TRUE(source_->outbox().has_given_up());
  late->commit();
  EXPECT_TRUE(becomes_true([&] { return source_->outbox().resume(); }));
  EXPECT_FALSE(source_->outbox().has_given_up());
  Rendered documents;
  begin()->render(docs(), {{"1"}}, 1 << 20, documents.sink());
  EXPECT_NE(documents.json.at("1"), "none") << "the comparison would miss it";
}

TEST_P(DefinedSourceContract, AMissingTriggerIsToldUntilApplyMakesItAgain) {
  lead();
  EXPECT_THAT(source_->outbox().follow_parts(), IsEmpty()) << "no part has come or gone";
  EXPECT_THAT(source_->outbox().differences_from_applied(), IsEmpty());
  world().drop_trigger();
  EXPECT_THAT(source_->outbox().differences_from_applied(), ElementsAre(HasSubstr("thing")));
  world().definition(DefinedWorld::Configuration::kApplied)->apply({});
  EXPECT_THAT(source_->outbox().differences_from_applied(), IsEmpty());
}

TEST_P(DefinedSourceContract, AReplacedViewIsToldUntilApplyHasSeenIt) {
  lead();
  world().replace_view();
  EXPECT_THAT(source_->outbox().differences_from_applied(), ElementsAre(HasSubstr("docs")));
  world().definition(DefinedWorld::Configuration::kApplied)->apply({});
  EXPECT_THAT(source_->outbox().differences_from_applied(), IsEmpty());
}

TEST_P(DefinedSourceContract, AViewWithOneMoreColumnIsOfAnotherShapeUntilApplyHasSeenIt) {
  lead();
  const auto reshaped = [&] {
    source_->reload();
    return source_->changes().read()->reshaped(source_->pipeline().indices.front());
  };
  EXPECT_THAT(reshaped(), IsEmpty());
  world().replace_view();
  EXPECT_THAT(reshaped(), SizeIs(1));
  world().definition(DefinedWorld::Configuration::kApplied)->apply({});
  EXPECT_THAT(reshaped(), IsEmpty());
}

}  // namespace
}  // namespace lockstep
