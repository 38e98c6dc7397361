// Who leads, and what a leader that was deposed can no longer do (S5); what the last leader knew of both
// sides.
#include <algorithm>

#include "replicator/error.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

TEST_P(SourceContract, S5_OneLeadsAtATime) {
  lead();
  const auto second = other();
  EXPECT_FALSE(second->lead().try_lead());
  EXPECT_TRUE(second->lead().is_led());
  source_.reset();
  EXPECT_TRUE(becomes_true([&] { return second->lead().try_lead(); }));
}

TEST_P(SourceContract, S5_TheLeadEndsWithItsConnection) {
  lead();
  const auto second = other();
  EXPECT_TRUE(source_->lead().is_led());
  EXPECT_TRUE(second->lead().is_led());
  source_.reset();
  EXPECT_TRUE(becomes_true([&] { return !second->lead().is_led(); }));
}

TEST_P(SourceContract, S5_AnEpochThatHasPassedCanSaveNothing) {
  lead();
  const Epoch old = epoch_;
  source_.reset();
  lead();
  EXPECT_GT(epoch_, old);
  writer_->insert_thing(1, 0);
  {
    const auto transaction = source_->changes().begin(old);
    Acknowledged acknowledged;
    acknowledged.position = transaction->read_changes(position_, {1000}).next;
    acknowledged.refused.push_back(refused(docs(), "1", 1));
    transaction->save(acknowledged);
    transaction->add_job(docs().id, JobKind::kComparison, "a test");
    EXPECT_THROW(transaction->commit(), Deposed);
  }
  EXPECT_EQ(source_->changes().checkpoint(), position_) << "the old leader has moved the position";
  EXPECT_EQ(source_->dead_letters().count({{docs().id}, {}, ""}), 0);
  EXPECT_TRUE(jobs_of(docs().id, JobKind::kComparison).empty());
  EXPECT_EQ(drain(), (Reported{{"1", 1}}));
}

TEST_P(SnapshotSourceContract, S5_WhoIsDeposedWhileATransactionIsOpenCanCommitNothing) {
  lead();
  {
    const auto transaction = begin();
    transaction->position();
    transaction->add_job(docs().id, JobKind::kComparison, "a test");
    other()->lead().raise_epoch({}, {});
    EXPECT_THROW(transaction->commit(), Deposed);
  }
  EXPECT_TRUE(jobs_of(docs().id, JobKind::kComparison).empty());
}

TEST_P(SnapshotSourceContract, S5_AnEpochThatHasPassedMayShowNothing) {
  lead();
  const auto second = other();
  {
    const auto before = begin();
    before->position();
    second->lead().raise_epoch({}, {});
    EXPECT_NO_THROW(before->may_be_shown()) << "its snapshot is older than any of the next leader's";
  }
  EXPECT_THROW(begin()->may_be_shown(), Deposed);
}

TEST_P(SnapshotSourceContract, S5_ARepairNeedsNoLead) {
  lead();
  writer_->insert_thing(1, 0);
  const auto second = other();
  second->lead().raise_epoch({}, {});
  const auto transaction = second->changes().begin_repair();
  transaction->add_repair(docs(), {{{"1"}, ""}}, {.reason = "a test"});
  source_->lead().raise_epoch({}, {});
  Committed added;
  EXPECT_NO_THROW(added = transaction->commit());
  EXPECT_EQ(added.due, std::set<IndexId>{docs().id});
}

TEST_P(SourceContract, S5_AnEpochIsAboveWhatElasticsearchHasSeen) {
  lead();
  const Epoch raised = source_->lead().raise_epoch(Epoch{epoch_.value + 1000}, {});
  EXPECT_GT(raised.value, epoch_.value + 1000);
  EXPECT_EQ(source_->lead().epoch(), raised);
  EXPECT_EQ(other()->lead().epoch(), raised);
  EXPECT_GT(source_->lead().raise_epoch({}, {}), raised);
}

TEST_P(SourceContract, TheNextLeaderKnowsThePartnersOfTheLastOne) {
  source_ = world_->open();
  EXPECT_EQ(source_->lead().known_partners(), KnownPartners{}) << "nobody has led yet";
  ASSERT_TRUE(source_->lead().try_lead());
  const KnownPartners partners{source_->lead().identity().place,
                               {{docs().id, "uuid of docs"}, {parcels().id, "uuid of parcels"}}};
  source_->lead().raise_epoch({}, partners);
  EXPECT_EQ(source_->lead().known_partners(), partners);
  EXPECT_EQ(other()->lead().known_partners(), partners);
  source_->lead().note_quiet({}, true);
  EXPECT_FALSE(other()->lead().known_partners().quiet) << "of an earlier leader";
  for (const bool landed : {false, true}) {
    source_->lead().note_quiet(source_->lead().epoch(), landed);
    EXPECT_TRUE(other()->lead().known_partners().quiet);
    EXPECT_EQ(other()->lead().known_partners().landed, landed);
  }
  const KnownPartners fewer{partners.place, {{docs().id, "uuid of other docs"}}};
  source_->lead().raise_epoch({}, fewer);
  const KnownPartners known = other()->lead().known_partners();
  EXPECT_EQ(known.place, fewer.place);
  ASSERT_TRUE(known.targets.contains(docs().id));
  EXPECT_EQ(known.targets.at(docs().id), "uuid of other docs");
}

TEST_P(SourceContract, AMarkIsANewOneUnlessProgressTells) {
  lead();
  const SourceIdentity before = source_->lead().identity();
  source_->lead().leave_mark(epoch_);
  const SourceIdentity after = other()->lead().identity();
  EXPECT_EQ(after.place, before.place);
  if (after.marks.empty()) {
    EXPECT_GE(after.progress, before.progress);
    return;
  }
  EXPECT_EQ(std::count(before.marks.begin(), before.marks.end(), after.marks.back()), 0);
  for (const std::string& mark : before.marks)
    EXPECT_EQ(std::count(after.marks.begin(), after.marks.end(), mark), 1) << "nothing went back";
}

TEST_P(SourceContract, ADatabaseIsKnownByItsIdentity) {
  lead();
  const SourceIdentity before = source_->lead().identity();
  EXPECT_NE(before.place, "");
  EXPECT_NE(before.timeline, "");
  writer_->insert_things(1, 100);
  step();
  const SourceIdentity after = other()->lead().identity();
  EXPECT_EQ(after.place, before.place);
  EXPECT_EQ(after.timeline, before.timeline);
  EXPECT_GE(after.progress, before.progress);
}

TEST_P(SourceContract, APipelineIsLoadedWhenItsSourceIsOpened) {
  source_ = world_->open();
  const AppliedPipeline& pipeline = source_->pipeline();
  EXPECT_NE(pipeline.identity, "");
  EXPECT_NE(pipeline.revision, "");
  EXPECT_NE(pipeline.name, "");
  ASSERT_EQ(pipeline.indices.size(), 2U);
  EXPECT_EQ(docs().alias, "docs");
  EXPECT_FALSE(docs().routed);
  EXPECT_EQ(docs().captures.size(), 2U);
  EXPECT_EQ(parcels().alias, "parcels");
  EXPECT_TRUE(parcels().routed);
  EXPECT_EQ(parcels().captures.size(), 2U);
  EXPECT_NE(docs().id, parcels().id);
  EXPECT_EQ(source_->revision(), pipeline.revision);
  EXPECT_EQ(other()->pipeline().identity, pipeline.identity);
}

}  // namespace
}  // namespace lockstep
