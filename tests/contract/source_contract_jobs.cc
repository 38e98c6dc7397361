// Jobs: how they are added, how far they have come, and the lists of fan-outs.
#include <gmock/gmock.h>

#include <algorithm>

#include "replicator/error.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST_P(SourceContract, AJobIsAddedUnlessOneThatNobodyHasBegunExists) {
  lead();
  const std::vector<Job> first = add_job(docs().id, JobKind::kComparison, "the first");
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(add_job(docs().id, JobKind::kComparison, "the second").empty());
  EXPECT_EQ(add_job(docs().id, JobKind::kSweep).size(), 1U) << "of another kind";
  EXPECT_EQ(add_job(parcels().id, JobKind::kComparison).size(), 1U) << "of another index";
  {
    const auto transaction = begin();
    transaction->begin_job(first[0].id);
    transaction->commit();
  }
  const std::vector<Job> third = add_job(docs().id, JobKind::kComparison, "the third");
  ASSERT_EQ(third.size(), 1U);
  EXPECT_GT(third[0].id, first[0].id);
  const std::vector<Job> comparisons = jobs_of(docs().id, JobKind::kComparison);
  ASSERT_EQ(comparisons.size(), 2U);
  EXPECT_EQ(comparisons[0].reason, "the first");
  EXPECT_EQ(comparisons[0].position, JobPosition(Begun{}));
  EXPECT_EQ(comparisons[1].reason, "the third");
  EXPECT_EQ(comparisons[1].position, JobPosition(NotBegun{}));
}

TEST_P(SourceContract, EachKindOfJobKeepsItsPositionAndWhatItHasDone) {
  lead();
  finish_jobs();
  writer_->insert_things(1, 3);
  const Job fan_out = fan_out_of_changes(docs());
  ASSERT_TRUE(expands_to(docs(), fan_out, 3));
  const std::vector<std::pair<JobKind, JobPosition>> kinds{
      {JobKind::kBackfill, AfterDocument{{"17"}}},
      {JobKind::kComparison, AfterDocument{{"18"}}},
      {JobKind::kSweep, Scanning{}},
      {JobKind::kFanOut, AfterNumber{2}},
  };
  for (const auto& each : kinds) {
    const JobKind kind = each.first;
    const JobPosition& position = each.second;
    const std::vector<Job> added = kind == JobKind::kFanOut ? std::vector{fan_out} : add_job(docs().id, kind);
    ASSERT_EQ(added.size(), 1U) << name_of(kind);
    const JobId job = added[0].id;
    const auto progress = [&, kind = kind](const JobPosition& at, std::int64_t documents, bool finished) {
      Acknowledged acknowledged;
      acknowledged.jobs.push_back({job, kind, at, documents, finished});
      save(acknowledged);
    };
    progress(Begun{}, 0, false);
    std::optional<Job> stored = find_job(job);
    ASSERT_TRUE(stored) << name_of(kind);
    EXPECT_EQ(stored->position, JobPosition(Begun{})) << name_of(kind);
    EXPECT_EQ(stored->done, 0) << name_of(kind);
    progress(position, 2, false);
    progress(position, 3, false);
    {
      const auto transaction = begin();
      transaction->begin_job(job);
      transaction->commit();
    }
    stored = find_job(job);
    ASSERT_TRUE(stored) << name_of(kind);
    EXPECT_EQ(stored->kind, kind);
    EXPECT_EQ(stored->position, position) << name_of(kind) << ": whoever begins it goes on there";
    EXPECT_EQ(stored->done, 5) << name_of(kind);
    progress(position, 1, true);
    EXPECT_FALSE(find_job(job)) << name_of(kind);
  }
}

// Only PostgreSQL's first backfill had one.
TEST_P(SourceContract, AJobKeepsTheTotalThatIsLearntOnTheWay) {
  lead();
  finish_jobs();
  const Job job = add_job(docs().id, JobKind::kBackfill, "TRUNCATE").at(0);
  EXPECT_FALSE(job.total);
  const auto advance = [&](std::optional<std::int64_t> total) {
    Acknowledged acknowledged;
    acknowledged.jobs.push_back({job.id, job.kind, AfterDocument{{"17"}}, 3, false, total});
    save(acknowledged);
    return find_job(job.id)->total;
  };
  EXPECT_EQ(advance(48'000), 48'000);
  EXPECT_EQ(advance(std::nullopt), 48'000) << "a later page says nothing of it";
}

TEST_P(SourceContract, ASnapshotKnowsAboutHowManyDocumentsAViewHas) {
  lead();
  writer_->insert_things(1, 7);
  const std::optional<std::int64_t> beside = source_->changes().read()->estimate_documents(docs());
  const std::optional<std::int64_t> led = begin()->estimate_documents(docs());
  ASSERT_TRUE(beside && led);
  EXPECT_GT(*beside, 0);
  EXPECT_EQ(*led, *beside);
}

TEST_P(SourceContract, JobsComeOldestFirst) {
  lead();
  finish_jobs();
  add_job(parcels().id, JobKind::kSweep);
  add_job(docs().id, JobKind::kBackfill);
  add_job(docs().id, JobKind::kComparison);
  const std::vector<Job> jobs = other()->changes().jobs().readable;
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].kind, JobKind::kSweep);
  EXPECT_EQ(jobs[1].kind, JobKind::kBackfill);
  EXPECT_EQ(jobs[2].kind, JobKind::kComparison);
  EXPECT_LT(jobs[0].id, jobs[1].id);
  EXPECT_LT(jobs[1].id, jobs[2].id);
}

// --- fan-outs ---

TEST_P(SourceContract, AFanOutJobIsKeptUntilItIsFinished) {
  lead();
  for (int i = 1; i <= 20; ++i) writer_->insert_thing(i, 0);
  const Job job = fan_out_of_changes(docs());
  source_.reset();
  lead();
  const std::optional<Job> stored = find_job(job.id);
  ASSERT_TRUE(stored);
  EXPECT_FALSE(stored->total);
  EXPECT_TRUE(expands_to(docs(), job, 20));
  EXPECT_TRUE(expands_to(docs(), job, 20)) << "found once";
  EXPECT_EQ(find_job(job.id)->total, 20);
  std::set<DocumentId> ids;
  JobPosition after = NotBegun{};
  for (bool end = false; !end;) {
    const auto transaction = begin();
    const FanOutPage page = transaction->fan_out_page(job.id, after, 6);
    ids.insert(page.ids.begin(), page.ids.end());
    after = page.position;
    end = page.end;
    Acknowledged acknowledged;
    acknowledged.jobs.push_back(
        {job.id, JobKind::kFanOut, page.position, static_cast<std::int64_t>(page.ids.size()), page.end});
    transaction->save(acknowledged);
    transaction->commit();
    ASSERT_TRUE(end || !page.ids.empty());
  }
  EXPECT_EQ(ids.size(), 20U);
  EXPECT_FALSE(find_job(job.id));
}

// --- large transactions ---

TEST_P(SourceContract, ALargeTransactionIsSteppedOverUnread) {
  lead();
  finish_jobs();
  drain();
  writer_->insert_thing(1, 0);
  writer_->begin();
  for (int i = 101; i <= 160; ++i) writer_->insert_thing(i, 0);
  writer_->commit();
  writer_->insert_thing(2, 0);
  const SteppedOver over = step_over({10, 50});
  const bool alone = world_->tells_transactions_apart();
  const std::size_t documents = alone ? 60 : 62;
  EXPECT_EQ(over.reported, (alone ? Reported{{"1", 1}, {"2", 1}} : Reported{}));
  ASSERT_EQ(over.jobs.size(), 1U);
  const std::optional<Job> stored = find_job(over.jobs[0].id);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->kind, JobKind::kFanOut);
  EXPECT_TRUE(stored->keeps_rows);
  EXPECT_FALSE(stored->total);
  EXPECT_TRUE(expands_to(docs(), over.jobs[0], static_cast<std::int64_t>(documents)));
  EXPECT_FALSE(find_job(over.jobs[0].id)->keeps_rows);
  const std::vector<std::string> list = listed(over.jobs[0].id, 7);
  EXPECT_EQ(list.size(), documents);
  EXPECT_EQ(std::set<std::string>(list.begin(), list.end()).size(), documents);
}

TEST_P(SourceContract, ATransactionUpToTheLimitIsRead) {
  lead();
  drain();
  writer_->begin();
  for (int i = 101; i <= 150; ++i) writer_->insert_thing(i, 0);
  writer_->commit();
  const SteppedOver over = step_over({10, 50});
  EXPECT_EQ(over.reported.size(), 50U);
  EXPECT_TRUE(over.jobs.empty());
}

TEST_P(SourceContract, WhatIsLeftOfALargeTransactionIsSteppedOver) {
  lead();
  drain();
  writer_->begin();
  for (int i = 101; i <= 160; ++i) writer_->insert_thing(i, 0);
  writer_->commit();
  const Changes begun = begin()->read_changes(position_, {10});
  ASSERT_TRUE(begun.more);
  position_ = begun.next;
  const SteppedOver over = step_over({10, 40});
  EXPECT_TRUE(over.reported.empty());
  ASSERT_EQ(over.jobs.size(), 1U);
  EXPECT_TRUE(expands_to(docs(), over.jobs[0], 60 - begun.rows));
}

TEST_P(SourceContract, NoLargeChangeJoinsALargeTransaction) {
  lead();
  const Job transaction = job_of_transaction(1, 100);
  writer_->insert_thing(1000, 0);
  EXPECT_NE(fan_out_of_changes(docs()).id, transaction.id);
}

TEST_P(SourceContract, TheNextLeaderGoesOnWithTheListOfALargeTransaction) {
  lead();
  constexpr int kThings = 5'000;
  const Job job = job_of_transaction(1, kThings);
  for (int i = 0; i < 3; ++i) {
    source_->changes().expand(docs(), job);
    source_.reset();
    lead();
  }
  // Who ends between a page and the note of how far it came leaves documents that the next one lists again.
  EXPECT_TRUE(becomes_true([&] {
    const std::optional<FanOutList> list = source_->changes().expand(docs(), job);
    return list && list->documents >= kThings;
  }));
  const std::vector<std::string> list = listed(job.id, 1000);
  EXPECT_EQ(std::set<std::string>(list.begin(), list.end()).size(), std::size_t{kThings});
}

TEST_P(SourceContract, RowsOfALargeTransactionAreNotPrunedBeforeItsListIsMade) {
  lead();
  const Job job = job_of_transaction(1, 3'000);
  drain();
  world_->age_outbox();
  source_->outbox().prune();
  EXPECT_TRUE(expands_to(docs(), job, 3'000));
}

TEST_P(SourceContract, TheOutboxIsPrunedWhileALargeTransactionIsReplayed) {
  lead();
  const Job job = job_of_transaction(1, 3'000);
  ASSERT_TRUE(expands_to(docs(), job, 3'000));
  world_->age_outbox();
  EXPECT_TRUE(becomes_smaller_by_pruning());
  EXPECT_EQ(listed(job.id, 1000).size(), 3'000U);
}

TEST_P(SourceContract, ATruncateInALargeTransactionIsNotLost) {
  lead();
  finish_jobs();
  drain();
  writer_->begin();
  for (int i = 1; i <= 60; ++i) writer_->insert_thing(i, 0);
  writer_->truncate_things();
  for (int i = 1; i <= 60; ++i) writer_->insert_thing(100 + i, 0);
  writer_->commit();
  const SteppedOver over = step_over({10, 100});
  ASSERT_FALSE(over.jobs.empty());
  EXPECT_TRUE(expands_to(docs(), over.jobs[0], 120));
  const std::size_t comparisons = world_->truncating_names_rows() ? 0 : 1;
  EXPECT_EQ(jobs_of(docs().id, JobKind::kBackfill).size(), comparisons);
  EXPECT_EQ(jobs_of(docs().id, JobKind::kSweep).size(), comparisons);
}

// --- fan-outs that join ---

TEST_P(SourceContract, LargeChangesJoinAFanOutThatNobodyHasBegunToExpand) {
  lead();
  const auto change_of = [&](int id) {
    writer_->insert_thing(id, 0);
    return fan_out_of_changes(docs());
  };
  const Job first = change_of(1);
  EXPECT_EQ(change_of(2).id, first.id);
  ASSERT_TRUE(expands_to(docs(), first, 2));
  writer_->delete_things();
  const Job second = change_of(1);
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(second.behind, first.id) << "both are of the row with the key 1";
  const Job third = change_of(3);
  EXPECT_NE(third.id, second.id) << "it need not wait for the first one";
  EXPECT_FALSE(third.behind);
  writer_->delete_things();
  EXPECT_EQ(change_of(1).id, second.id);
  const std::optional<Job> stored = find_job(second.id);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->behind, first.id);
}

TEST_P(SourceContract, AFanOutIsReadInPagesOfAnySize) {
  lead();
  writer_->insert_things(1, 4500);
  const Job job = fan_out_of_changes(docs());
  ASSERT_TRUE(expands_to(docs(), job, 4500));
  for (const std::int64_t limit : {700, 2000, 5000}) {
    std::set<std::string> ids;
    for (const std::string& id : listed(job.id, limit)) EXPECT_TRUE(ids.insert(id).second) << id << " twice";
    EXPECT_EQ(ids.size(), 4500U);
  }
}

TEST_P(SourceContract, AFanOutFindsTheDocumentsThatAValueLeadsTo) {
  lead();
  writer_->insert_town(1, "Ulm");
  for (int i = 1; i <= 7; ++i) writer_->insert_parcel(i, 1);
  writer_->insert_parcel(8, 2);
  drain();
  writer_->rename_town(1, "Bonn");
  const Job job = fan_out_of_changes(parcels());
  ASSERT_TRUE(expands_to(parcels(), job, 7));
  std::vector<std::string> ids = listed(job.id, 3);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7"}));
}

TEST_P(SourceContract, AFanOutGoesOnBehindWhatIsAcknowledged) {
  lead();
  writer_->insert_things(1, 10);
  const Job job = fan_out_of_changes(docs());
  ASSERT_TRUE(expands_to(docs(), job, 10));
  const FanOutPage first = begin()->fan_out_page(job.id, NotBegun{}, 4);
  EXPECT_EQ(first.ids.size(), 4U);
  EXPECT_FALSE(first.end);
  EXPECT_EQ(first.position, JobPosition(AfterNumber{4}));
  Acknowledged acknowledged;
  acknowledged.jobs.push_back({job.id, JobKind::kFanOut, first.position, 4, false});
  save(acknowledged);
  source_.reset();
  lead();
  const std::optional<Job> stored = find_job(job.id);
  ASSERT_TRUE(stored);
  const FanOutPage rest = begin()->fan_out_page(job.id, stored->position, 100);
  EXPECT_EQ(rest.ids.size(), 6U);
  EXPECT_TRUE(rest.end);
  EXPECT_EQ(rest.position, JobPosition(AfterNumber{10}));
  for (const DocumentId& id : rest.ids)
    EXPECT_EQ(std::count(first.ids.begin(), first.ids.end(), id), 0) << id.text;
}

// --- repairs ---

std::vector<Job> repair(Source& source, const AppliedIndex& index,
                        const std::vector<FoundDocument>& documents) {
  const auto transaction = source.changes().begin_repair();
  transaction->add_repair(index, documents, "they differ");
  return transaction->commit();
}

TEST_P(SourceContract, ARepairHasItsDocumentsAtOnceAndTheLeaderFindsIt) {
  lead();
  const std::vector<Job> jobs = repair(*other(), docs(), {{{"1"}, ""}, {{"2"}, ""}, {{"1"}, ""}});
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].kind, JobKind::kFanOut);
  EXPECT_EQ(jobs[0].index, docs().id);
  EXPECT_EQ(jobs[0].total, 2);
  const std::optional<Job> found = find_job(jobs[0].id);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, "they differ");
  EXPECT_EQ(found->total, 2);
  EXPECT_EQ(listed(jobs[0].id, 10), (std::vector<std::string>{"1", "2"}));
}

std::vector<Job> render(SourceTransaction& transaction, const AppliedIndex& index, const DocumentIds& ids) {
  transaction.add_rendering(index, ids, "they are large");
  return transaction.commit();
}

TEST_P(SourceContract, DocumentsToBeRenderedHaveAFanOut) {
  lead();
  const std::vector<Job> jobs = render(*begin(), docs(), {{"2"}, {"1"}, {"2"}});
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].kind, JobKind::kFanOut);
  EXPECT_EQ(jobs[0].total, 2);
  EXPECT_EQ(find_job(jobs[0].id)->reason, "they are large");
  EXPECT_THAT(listed(jobs[0].id, 10), UnorderedElementsAre("1", "2"));
}

TEST_P(SourceContract, WhatARenderingCannotReachIsSwept) {
  lead();
  const std::vector<Job> jobs = repair(*source_, docs(), {{{"1"}, "a routing"}, {{"2"}, ""}});
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].kind, JobKind::kFanOut);
  EXPECT_EQ(listed(jobs[0].id, 10), std::vector<std::string>{"2"});
  EXPECT_EQ(jobs[1].kind, JobKind::kSweep);
  EXPECT_EQ(jobs_of(docs().id, JobKind::kSweep).size(), 1U);
}

TEST_P(SourceContract, ARepairedDocumentIsDeletedWhereItWasFound) {
  lead();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  const std::vector<Job> jobs = repair(*source_, parcels(), {{{"1"}, "Bonn"}});
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(listed(jobs[0].id, 10), std::vector<std::string>{"1"});
  Rendered documents;
  begin()->render_for(version(1), parcels(), {{"1"}}, 1 << 20, documents.sink());
  EXPECT_EQ(documents.routing.at("1"), "Ulm");
  EXPECT_EQ(documents.stale_routings.at("1"), std::set<std::string>{"Bonn"});
}

// As a document that had been found without a routing it was deleted there, before each write.
TEST_P(SourceContract, ADocumentToBeRenderedIsNotTakenForOneWithoutARouting) {
  lead();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  ASSERT_EQ(render(*begin(), parcels(), {{"1"}}).size(), 1U);
  Rendered documents;
  begin()->render_for(version(1), parcels(), {{"1"}}, 1 << 20, documents.sink());
  EXPECT_EQ(documents.stale_routings.at("1"), std::set<std::string>{});
}

// --- what nobody knows ---

TEST_P(DefinedSourceContract, AJobOfAnUnknownKindIsNamedAndLeavesTheOthersReadable) {
  source_ = world_->open();
  const std::size_t before = source_->changes().jobs().readable.size();
  world().plant_job("rebuild", "");
  const UnfinishedJobs jobs = source_->changes().jobs();
  EXPECT_EQ(jobs.readable.size(), before);
  ASSERT_EQ(jobs.unreadable.size(), 1U);
  const UnreadableJob& job = jobs.unreadable[0];
  EXPECT_EQ(job.index, docs().id);
  EXPECT_THAT(job.why,
              HasSubstr("reading job " + std::to_string(job.id.value) + ": its kind is \"rebuild\""));
  EXPECT_THAT(job.why, HasSubstr("delete it"));
  EXPECT_TRUE(jobs.contains(job.id));
}

TEST_P(DefinedSourceContract, AJobAtAnUnknownPositionIsNamedAsWhatItIs) {
  source_ = world_->open();
  const std::vector<std::pair<std::string, std::string>> planted{{"sweep", "halfway"},
                                                                 {"fan_out", "the third"},
                                                                 {"backfill", "halfway"},
                                                                 {"comparison", "99999999999999999999"}};
  for (const auto& [kind, position] : planted) world().plant_job(kind, position);
  const std::vector<UnreadableJob> jobs = source_->changes().jobs().unreadable;
  ASSERT_EQ(jobs.size(), planted.size());
  for (std::size_t i = 0; i < planted.size(); ++i) {
    EXPECT_THAT(jobs[i].why, HasSubstr("reading job " + std::to_string(jobs[i].id.value) +
                                       ": its position is \"" + planted[i].second + "\""));
  }
}

TEST_P(DefinedSourceContract, AnIndexThatIsSetAsideKeepsTheJobThatNobodyCanRead) {
  lead();
  finish_jobs();
  add_job(docs().id, JobKind::kComparison);
  world().plant_job("sweep", "halfway");
  {
    const auto transaction = begin();
    transaction->set_aside(docs().id, "a job cannot be read");
    transaction->commit();
  }
  const UnfinishedJobs jobs = source_->changes().jobs();
  EXPECT_TRUE(jobs.readable.empty());
  ASSERT_EQ(jobs.unreadable.size(), 1U);
  EXPECT_THAT(jobs.unreadable[0].why, HasSubstr("halfway"));
}

}  // namespace
}  // namespace lockstep
