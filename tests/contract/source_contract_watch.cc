// `wait`: whether Elasticsearch has everything up to a point, asked without leading.
#include <gmock/gmock.h>

#include "replicator/source/outbox/sweep_wait.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using Kind = AppliedState::Kind;
using testing::HasSubstr;

TEST_P(WatchedSourceContract, WhatIsCommittedIsAppliedOnceItIsSaved) {
  lead();
  finish_jobs();
  writer_->insert_thing(1, 0);
  const auto watch = world_->watch();
  const auto point = watch->begin(std::nullopt);
  const AppliedState before = point->look();
  EXPECT_EQ(before.kind, Kind::kPending);
  EXPECT_NE(before.reason, "");
  drain();
  const AppliedState after = point->look();
  EXPECT_EQ(after.kind, Kind::kApplied) << after.reason;
}

TEST_P(WatchedSourceContract, WhoWaitsDuringAFillLearnsOfIt) {
  lead();
  writer_->insert_thing(1, 0);
  const auto watch = world_->watch();
  EXPECT_THAT(watch->begin(std::nullopt)->look().reason,
              testing::AllOf(HasSubstr("changes are pending, alongside: backfill of "),
                             HasSubstr(" documents so far")));
}

TEST_P(WatchedSourceContract, WhatIsCommittedLaterIsNotWaitedFor) {
  lead();
  finish_jobs();
  writer_->insert_thing(1, 0);
  const auto watch = world_->watch();
  const auto point = watch->begin(std::nullopt);
  drain();
  writer_->insert_thing(2, 0);
  EXPECT_EQ(point->look().kind, Kind::kApplied) << point->look().reason;
  const auto later = watch->begin(std::nullopt);
  EXPECT_EQ(later->look().kind, Kind::kPending);
}

TEST_P(WatchedSourceContract, NothingIsAppliedBeforeSomebodyHasLed) {
  const auto watch = world_->watch();
  const auto point = watch->begin(std::nullopt);
  const AppliedState state = point->look();
  EXPECT_EQ(state.kind, Kind::kPending);
  EXPECT_NE(state.reason, "");
  lead();
  finish_jobs();
  drain();
  EXPECT_EQ(point->look().kind, Kind::kApplied) << point->look().reason;
}

// `wait` failed at its default time-out, and said nothing but that the sweep was not finished.
TEST_P(WatchedSourceContract, WhoWaitsForASweepLearnsUntilWhenItMayStandStill) {
  lead();
  finish_jobs();
  drain();
  add_job(docs().id, JobKind::kSweep);
  const auto watch = world_->watch();
  const AppliedState state = watch->begin(std::nullopt)->look();
  EXPECT_EQ(state.kind, Kind::kPending);
  EXPECT_THAT(state.reason, testing::AllOf(HasSubstr("sweep of " + docs().alias), HasSubstr(kSweepWaits)));
}

TEST_P(WatchedSourceContract, AJobIsWaitedFor) {
  lead();
  finish_jobs();
  drain();
  ASSERT_EQ(add_job(docs().id, JobKind::kComparison, "somebody asked for it").size(), 1U);
  const auto watch = world_->watch();
  const auto point = watch->begin(std::nullopt);
  EXPECT_EQ(point->look().kind, Kind::kPending);
  EXPECT_THAT(point->look().reason, HasSubstr("comparison of " + docs().alias));
  add_job(docs().id, JobKind::kSweep);
  Acknowledged acknowledged;
  for (const Job& job : jobs_of(docs().id, JobKind::kComparison))
    acknowledged.jobs.push_back({job.id, job.kind, job.position, 0, true});
  save(acknowledged);
  EXPECT_EQ(point->look().kind, Kind::kApplied) << "a later job is none of it: " << point->look().reason;
}

TEST_P(WatchedSourceContract, AnIndexThatIsSetAsideIsWaitedFor) {
  lead();
  finish_jobs();
  drain();
  const auto watch = world_->watch();
  const auto point = watch->begin(std::nullopt);
  {
    const auto transaction = begin();
    transaction->set_aside(docs().id, "its view is gone");
    transaction->commit();
  }
  EXPECT_EQ(point->look().kind, Kind::kPending);
  EXPECT_THAT(point->look().reason, HasSubstr("its view is gone"));
  {
    const auto transaction = begin();
    transaction->take_back(docs().id);
    transaction->commit();
  }
  EXPECT_EQ(point->look().kind, Kind::kApplied) << point->look().reason;
}

TEST_P(WatchedSourceContract, ChangesThatWereLeftOutAreWaitedFor) {
  lead();
  finish_jobs();
  world_->fill_outbox();
  const auto watch = world_->watch();
  const auto point = watch->begin(std::nullopt);
  EXPECT_EQ(point->look().kind, Kind::kPending);
  EXPECT_TRUE(becomes_true([&] { return source_->outbox().resume(); }));
  EXPECT_EQ(point->look().kind, Kind::kPending) << "the comparisons are not done";
  position_ = source_->changes().checkpoint();
  drain();
  finish_jobs();
  EXPECT_EQ(point->look().kind, Kind::kApplied) << point->look().reason;
}

TEST_P(WatchedSourceContract, AWatchKnowsWhetherSomebodyLeads) {
  const auto watch = world_->watch();
  EXPECT_FALSE(watch->is_led());
  lead();
  EXPECT_TRUE(watch->is_led());
  source_.reset();
  EXPECT_TRUE(becomes_true([&] { return !watch->is_led(); }));
}

TEST_P(NumberedSourceContract, ATransactionIsAppliedOnceItIsCommittedAndSaved) {
  lead();
  finish_jobs();
  writer_->begin();
  writer_->insert_thing(1, 0);
  const auto watch = world_->watch();
  const auto transaction = writer_->transaction();
  ASSERT_TRUE(transaction);
  const auto point = watch->begin(transaction);
  drain();
  EXPECT_EQ(point->look().kind, Kind::kPending) << "it is open";
  writer_->commit();
  EXPECT_EQ(point->look().kind, Kind::kPending) << "it is not read";
  drain();
  EXPECT_EQ(point->look().kind, Kind::kApplied) << point->look().reason;
}

TEST_P(NumberedSourceContract, ATransactionThatWasRolledBackNeverIsApplied) {
  lead();
  finish_jobs();
  writer_->begin();
  writer_->insert_thing(1, 0);
  const auto transaction = writer_->transaction();
  ASSERT_TRUE(transaction);
  const auto watch = world_->watch();
  const auto point = watch->begin(transaction);
  writer_->rollback();
  EXPECT_EQ(point->look().kind, Kind::kRolledBack);
  EXPECT_THAT(point->look().reason, HasSubstr(std::to_string(transaction->value)));
}

TEST_P(NumberedSourceContract, ANumberThatNoTransactionHasHadIsUnknown) {
  lead();
  writer_->begin();
  writer_->insert_thing(1, 0);
  const auto transaction = writer_->transaction();
  ASSERT_TRUE(transaction);
  writer_->rollback();
  const auto watch = world_->watch();
  const auto point = watch->begin(TransactionId{transaction->value + 1'000'000'000});
  EXPECT_EQ(point->look().kind, Kind::kUnknownTransaction);
}

}  // namespace
}  // namespace lockstep
