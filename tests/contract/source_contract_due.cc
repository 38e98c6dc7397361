// What is due: changes whose documents are found later, and pages of documents.
#include <gmock/gmock.h>

#include <algorithm>

#include "replicator/error.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Ids = std::vector<std::string>;

// --- changes whose documents are still to be found ---

TEST_P(SourceContract, WhatIsDueIsKeptUntilItsPageIsWritten) {  // U1
  lead();
  for (int i = 1; i <= 20; ++i) writer_->insert_thing(i, 0);
  EXPECT_FALSE(due_list(docs().id));
  make_due(docs());
  source_.reset();
  lead();
  std::optional<DueList> list = due_list(docs().id);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->documents, 0);
  EXPECT_EQ(list->changes, 1);
  EXPECT_EQ(list->reason, kManyDocuments);
  EXPECT_FALSE(list->keeps_rows);
  EXPECT_TRUE(begin()->next_due(docs().id, {}).has_changes);
  EXPECT_TRUE(finds(docs(), 20));
  list = due_list(docs().id);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->documents, 20);
  EXPECT_EQ(list->changes, 0);
  source_.reset();
  lead();
  const std::vector<DuePage> pages = due_pages(docs().id);
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_EQ(pages[0].ids.size(), 20U);
  EXPECT_EQ(due_pages(docs().id).size(), 1U) << "reading takes nothing off";
  take_off(pages);
  EXPECT_TRUE(due_pages(docs().id).empty());
  EXPECT_FALSE(due_list(docs().id));
}

TEST_P(SourceContract, TheDocumentsOfChangesAreFoundOnce) {
  lead();
  writer_->insert_thing(1, 0);
  make_due(docs());
  ASSERT_TRUE(finds(docs(), 1));
  EXPECT_TRUE(finds(docs(), 0)) << "nothing is left";
}

TEST_P(SourceContract, ChangesOfTheSameRowsAreFoundTogetherEachDocumentOnce) {
  lead();
  writer_->insert_things(1, 5);
  make_due(docs());
  writer_->delete_things();
  make_due(docs());
  writer_->insert_things(3, 7);
  make_due(docs());
  EXPECT_EQ(due_list(docs().id).value().changes, 3);
  ASSERT_TRUE(finds(docs(), 7));
  EXPECT_THAT(due_documents(docs().id), UnorderedElementsAre("1", "2", "3", "4", "5", "6", "7"));
}

TEST_P(SourceContract, APageIsDueSinceTheOldestOfItsChangesAndAsOfTheNewest) {  // U2
  lead();
  writer_->insert_thing(1, 0);
  make_due(docs(), version(3));
  const DueList before = due_list(docs().id).value();
  EXPECT_EQ(before.oldest, before.newest);
  writer_->insert_thing(2, 0);
  make_due(docs(), version(9));
  EXPECT_GT(due_list(docs().id).value().newest, before.newest);
  ASSERT_TRUE(finds(docs(), 2));
  const std::vector<DuePage> pages = due_pages(docs().id);
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_EQ(pages[0].since, before.oldest);
  EXPECT_EQ(pages[0].as_of, version(9));
  EXPECT_GT(pages[0].number, before.newest);
  EXPECT_EQ(due_list(docs().id).value().oldest, before.oldest) << "a wait goes on";
  EXPECT_EQ(due_list(docs().id).value().newest, pages[0].number);
}

// Large changes of the same rows, one after the other, listed each document as often: 573,000 due of 12,000.
TEST_P(SourceContract, ADocumentThatBecomesDueAgainJoinsItsPage) {  // U2
  lead();
  writer_->insert_things(1, 3);
  make_due(docs(), version(1));
  ASSERT_TRUE(finds(docs(), 3));
  const std::vector<DuePage> before = due_pages(docs().id);
  writer_->delete_things();
  writer_->insert_things(3, 5);
  make_due(docs(), version(5));
  ASSERT_TRUE(finds(docs(), 5));
  std::vector<DuePage> pages = due_pages(docs().id);
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages[0].number, before[0].number);
  EXPECT_EQ(pages[0].since, before[0].since);
  EXPECT_EQ(pages[0].as_of, version(5));
  EXPECT_THAT(pages[1].ids, UnorderedElementsAre(DocumentId{"4"}, DocumentId{"5"}));
  EXPECT_EQ(due_list(docs().id).value().documents, 5);
  writer_->delete_things();
  make_due(docs(), version(7));
  ASSERT_TRUE(finds(docs(), 3));
  EXPECT_EQ(due_list(docs().id).value().documents, 5);
  take_off(pages);
  EXPECT_THAT(due_pages(docs().id), IsEmpty()) << "they are left alone for a while";
  EXPECT_EQ(due_list(docs().id).value().documents, 5) << "they were read before they became due again";
  ASSERT_TRUE(becomes_true([&] { return due_pages(docs().id).size() == 2U; }));
  pages = due_pages(docs().id);
  EXPECT_EQ(pages[0].as_of, version(7));
  take_off(pages);
  EXPECT_FALSE(due_list(docs().id));
}

TEST_P(SourceContract, NumbersAreOfTheWholeSourceAndNeverComeAgain) {
  lead();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  make_due(parcels());
  const DueNumber first = due_list(parcels().id).value().newest;
  writer_->insert_thing(1, 0);
  make_due(docs());
  const DueNumber second = due_list(docs().id).value().newest;
  EXPECT_GT(second, first);
  ASSERT_TRUE(finds(docs(), 1));
  take_off(due_pages(docs().id));
  ASSERT_TRUE(finds(parcels(), 1));
  take_off(due_pages(parcels().id));
  EXPECT_TRUE(source_->changes().due().empty());
  writer_->insert_thing(2, 0);
  make_due(docs());
  EXPECT_GT(due_list(docs().id).value().oldest, second);
}

TEST_P(SourceContract, FindingWhatIsDueOfOneIndexLeavesTheOthersAlone) {
  lead();
  make_parcel_and_thing_due();
  ASSERT_TRUE(finds(docs(), 1));
  EXPECT_GT(due_list(parcels().id).value().changes, 0);
  EXPECT_TRUE(due_pages(parcels().id).empty());
}

// What was found for one was not asked for, and 44 s long nothing was found for the others.
TEST_P(SourceContract, WhatWasFoundOfOneIndexIsNotInTheWayOfAnother) {
  lead();
  make_parcel_and_thing_due();
  EXPECT_FALSE(source_->changes().find_due(docs()));
  EXPECT_TRUE(finds(parcels(), 1));
  EXPECT_TRUE(finds(docs(), 1));
}

TEST_P(SourceContract, ManyDocumentsAreOnPagesOfAFewThousand) {
  lead();
  writer_->insert_things(1, 4500);
  make_due(docs());
  ASSERT_TRUE(finds(docs(), 4500));
  const std::vector<DuePage> pages = due_pages(docs().id);
  EXPECT_EQ(pages.size(), 3U);
  const Ids ids = due_documents(docs().id);
  EXPECT_EQ(ids.size(), 4500U);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 4500U);
  for (const DuePage& page : pages) EXPECT_EQ(page.since, pages.front().since);
}

TEST_P(SourceContract, WhatIsDueIsWhatAValueLeadsTo) {
  lead();
  writer_->insert_town(1, "Ulm");
  for (int i = 1; i <= 7; ++i) writer_->insert_parcel(i, 1);
  writer_->insert_parcel(8, 2);
  drain();
  writer_->rename_town(1, "Bonn");
  make_due(parcels());
  ASSERT_TRUE(finds(parcels(), 7));
  EXPECT_THAT(due_documents(parcels().id), UnorderedElementsAre("1", "2", "3", "4", "5", "6", "7"));
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
  EXPECT_EQ(over.due, std::set<IndexId>{docs().id});
  const std::optional<DueList> list = due_list(docs().id);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->changes, 1);
  EXPECT_EQ(list->documents, 0);
  EXPECT_TRUE(list->keeps_rows);
  EXPECT_TRUE(begin()->next_due(docs().id, {}).keeps_rows);
  EXPECT_TRUE(finds(docs(), static_cast<std::int64_t>(documents)));
  EXPECT_FALSE(due_list(docs().id).value().keeps_rows);
  const Ids ids = due_documents(docs().id);
  EXPECT_EQ(ids.size(), documents);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), documents);
}

TEST_P(SourceContract, ATransactionUpToTheLimitIsRead) {
  lead();
  drain();
  writer_->begin();
  for (int i = 101; i <= 150; ++i) writer_->insert_thing(i, 0);
  writer_->commit();
  const SteppedOver over = step_over({10, 50});
  EXPECT_EQ(over.reported.size(), 50U);
  EXPECT_TRUE(over.due.empty());
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
  EXPECT_EQ(over.due, std::set<IndexId>{docs().id});
  EXPECT_TRUE(finds(docs(), 60 - begun.rows));
}

TEST_P(SourceContract, ALargeTransactionAndOtherChangesAreFoundOneAfterTheOther) {
  lead();
  make_transaction_due(1, 100);
  writer_->insert_thing(1000, 0);
  make_due(docs());
  EXPECT_EQ(due_list(docs().id).value().changes, 2);
  ASSERT_TRUE(finds(docs(), 101));
  const std::vector<DuePage> pages = due_pages(docs().id);
  ASSERT_GE(pages.size(), 2U);
  EXPECT_LT(pages.front().since, pages.back().since);
  EXPECT_EQ(pages.back().ids, (DocumentIds{{"1000"}}));
}

TEST_P(SourceContract, TheNextLeaderGoesOnWithALargeTransaction) {
  lead();
  constexpr int kThings = 5'000;
  make_transaction_due(1, kThings);
  for (int i = 0; i < 3; ++i) {
    source_->changes().find_due(docs());
    source_.reset();
    lead();
  }
  ASSERT_TRUE(becomes_true([&] { return source_->changes().find_due(docs()).has_value(); }));
  EXPECT_EQ(due_list(docs().id).value().changes, 0);
  // Who ends between a page and the note of how far it came leaves documents that the next one finds again.
  const Ids ids = due_documents(docs().id);
  EXPECT_GE(ids.size(), std::size_t{kThings});
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), std::size_t{kThings});
}

TEST_P(SourceContract, RowsOfALargeTransactionAreNotPrunedBeforeItsDocumentsAreFound) {
  lead();
  make_transaction_due(1, 3'000);
  drain();
  world_->age_outbox();
  source_->outbox().prune();
  EXPECT_TRUE(finds(docs(), 3'000));
}

TEST_P(SourceContract, TheOutboxIsPrunedWhileALargeTransactionIsReplayed) {
  lead();
  make_transaction_due(1, 3'000);
  ASSERT_TRUE(finds(docs(), 3'000));
  world_->age_outbox();
  EXPECT_TRUE(becomes_smaller_by_pruning());
  EXPECT_EQ(due_documents(docs().id).size(), 3'000U);
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
  EXPECT_EQ(step_over({10, 100}).due, std::set<IndexId>{docs().id});
  EXPECT_TRUE(finds(docs(), 120));
  const std::size_t comparisons = world_->truncating_names_rows() ? 0 : 1;
  EXPECT_EQ(jobs_of(docs().id, JobKind::kBackfill).size(), comparisons);
  EXPECT_EQ(jobs_of(docs().id, JobKind::kSweep).size(), comparisons);
}

// --- pages ---

Committed render(SourceTransaction& transaction, const AppliedIndex& index, const DocumentIds& ids,
                 const DueOrigin& origin) {
  transaction.add_due(index, ids, origin);
  return transaction.commit();
}

TEST_P(SourceContract, DocumentsBecomeDueEachOnce) {
  lead();
  EXPECT_EQ(render(*begin(), docs(), {{"2"}, {"1"}, {"2"}}, {version(4), {}, "they are large"}).due,
            std::set<IndexId>{docs().id});
  const std::optional<DueList> list = due_list(docs().id);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->documents, 2);
  EXPECT_EQ(list->reason, "they are large");
  const std::vector<DuePage> pages = due_pages(docs().id);
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_THAT(due_documents(docs().id), UnorderedElementsAre("1", "2"));
  EXPECT_EQ(pages[0].as_of, version(4));
  EXPECT_EQ(pages[0].since, pages[0].number);
}

TEST_P(SourceContract, NoDocumentsMakeNothingDue) {
  lead();
  EXPECT_TRUE(render(*begin(), docs(), {}, {}).due.empty());
  EXPECT_FALSE(due_list(docs().id));
}

TEST_P(SourceContract, WhatBecomesDueAgainIsDueSinceItWas) {
  lead();
  render(*begin(), docs(), {{"1"}}, {});
  const DueNumber first = due_pages(docs().id).at(0).number;
  render(*begin(), docs(), {{"2"}}, {version(7), first, "it was refused"});
  render(*begin(), docs(), {{"3"}}, {version(7), kDueBeforeAll, "it was refused"});
  const std::vector<DuePage> pages = due_pages(docs().id);
  ASSERT_EQ(pages.size(), 3U);
  EXPECT_EQ(pages[0].as_of, std::nullopt) << "only a new rendering makes up for it";
  EXPECT_EQ(pages[1].since, first);
  EXPECT_EQ(pages[2].since, kDueBeforeAll);
  EXPECT_EQ(due_list(docs().id).value().oldest, kDueBeforeAll);
}

// The page of a repair has no `as_of` by which who has read it could tell: the change was taken off with it.
TEST_P(SourceContract, AChangeOfADocumentWhoseRepairIsInHandStaysDue) {  // U1
  lead();
  render(*begin(), docs(), {{"1"}}, {});
  const std::vector<DuePage> in_hand = due_pages(docs().id);
  writer_->insert_thing(1, 0);
  make_due(docs(), version(5));
  ASSERT_TRUE(finds(docs(), 1));
  take_off(in_hand);
  EXPECT_EQ(due_documents(docs().id), Ids{"1"});
}

TEST_P(SourceContract, APageInHandIsNotGivenAgain) {
  lead();
  render(*begin(), docs(), {{"1"}}, {});
  render(*begin(), docs(), {{"2"}}, {});
  const std::vector<DuePage> pages = due_pages(docs().id);
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(begin()->next_due(docs().id, {pages[0].number}).page.value().number, pages[1].number);
  const NextDue none = begin()->next_due(docs().id, {pages[1].number, pages[0].number});
  EXPECT_FALSE(none.page);
  EXPECT_FALSE(none.ready_in);
  EXPECT_FALSE(none.has_changes);
}

TEST_P(SourceContract, APageThatMustWaitIsGivenWhenItsTimeHasCome) {
  lead();
  render(*begin(), docs(), {{"1"}}, {{}, {}, "a test", std::chrono::milliseconds(60'000)});
  render(*begin(), docs(), {{"2"}}, {{}, {}, "a test", std::chrono::milliseconds(300)});
  const NextDue waits = begin()->next_due(docs().id, {});
  EXPECT_FALSE(waits.page);
  ASSERT_TRUE(waits.ready_in);
  EXPECT_GT(waits.ready_in->count(), 0);
  EXPECT_LE(waits.ready_in->count(), 300);
  EXPECT_TRUE(becomes_true([&] { return begin()->next_due(docs().id, {}).page.has_value(); }));
  EXPECT_EQ(due_documents(docs().id), Ids{"2"});
}

TEST_P(SourceContract, WhatBecomesDueLaterIsNotThereUntilThen) {  // W8
  lead();
  const auto make_due = [&](const DueOrigin& origin) {
    const auto transaction = begin();
    transaction->add_repair(docs(), {{{"1"}, ""}}, origin);
    return transaction->commit().due;
  };
  const auto later = std::chrono::milliseconds(2'000);
  EXPECT_THAT(make_due({.as_of = version(4), .reason = "a test", .later = later}), IsEmpty());
  const auto begun = std::chrono::steady_clock::now();
  const bool has_list = due_list(docs().id).has_value();
  const NextDue next = begin()->next_due(docs().id, {});
  make_due({.as_of = version(5), .reason = "a test", .pause = std::chrono::milliseconds(1)});
  if (std::chrono::steady_clock::now() - begun < later) {
    EXPECT_FALSE(has_list);
    EXPECT_FALSE(next.page);
    EXPECT_FALSE(next.ready_in);
  }
  ASSERT_TRUE(becomes_true([&] { return due_pages(docs().id).size() == 1U; }));
  const std::vector<DuePage> soon = due_pages(docs().id);
  EXPECT_EQ(soon[0].as_of, version(5)) << "it has not joined what is due later";
  take_off(soon);
  ASSERT_TRUE(becomes_true([&] { return due_list(docs().id).has_value(); }));
  EXPECT_EQ(due_list(docs().id).value().documents, 1);
  ASSERT_TRUE(becomes_true([&] { return due_pages(docs().id).size() == 1U; }));
  EXPECT_EQ(due_pages(docs().id)[0].as_of, version(4));
}

TEST_P(SourceContract, WithoutACommitNothingBecomesDueAndNothingIsTakenOff) {
  lead();
  render(*begin(), docs(), {{"1"}}, {});
  writer_->insert_thing(5, 0);
  const DueNumber number = due_list(docs().id).value().newest;
  {
    const auto transaction = begin();
    transaction->add_due(docs(), {{"2"}}, {});
    transaction->add_due_changes(docs(), transaction->read_changes(position_, {100}).captured, version(1));
    Acknowledged acknowledged;
    acknowledged.written_pages.push_back({number});
    transaction->save(acknowledged);
  }
  EXPECT_EQ(due_documents(docs().id), Ids{"1"});
  EXPECT_EQ(due_list(docs().id).value().changes, 0);
}

// --- repairs ---

Committed repair(Source& source, const AppliedIndex& index, const std::vector<FoundDocument>& documents) {
  const auto transaction = source.changes().begin_repair();
  transaction->add_repair(index, documents, {.reason = "they differ"});
  return transaction->commit();
}

TEST_P(SourceContract, ARepairIsDueAtOnceAndTheLeaderFindsIt) {
  lead();
  const Committed added = repair(*other(), docs(), {{{"1"}, ""}, {{"2"}, ""}, {{"1"}, ""}});
  EXPECT_EQ(added.due, std::set<IndexId>{docs().id});
  EXPECT_TRUE(added.jobs.empty());
  const std::optional<DueList> list = due_list(docs().id);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->reason, "they differ");
  EXPECT_EQ(list->documents, 2);
  EXPECT_THAT(due_documents(docs().id), UnorderedElementsAre("1", "2"));
}

// Each change of it had a job of its own, and these piled up.
TEST_P(SourceContract, ADocumentThatWaitsForItsNextTryIsDueOnceHoweverOftenItChanges) {
  lead();
  const auto put_off = [&](const std::vector<FoundDocument>& documents, std::int64_t as_of) {
    const auto transaction = begin();
    transaction->add_repair(docs(), documents,
                            {version(as_of), {}, "it was refused", std::chrono::milliseconds(1'500)});
    transaction->commit();
  };
  put_off({{{"1"}, ""}, {{"2"}, ""}}, 4);
  put_off({{{"1"}, ""}}, 7);
  put_off({{{"1"}, ""}, {{"3"}, ""}}, 9);
  EXPECT_EQ(due_list(docs().id).value().documents, 3);
  ASSERT_TRUE(becomes_true([&] { return due_pages(docs().id).size() == 2; }));
  const std::vector<DuePage> pages = due_pages(docs().id);
  EXPECT_EQ(pages[0].ids.size(), 2U);
  EXPECT_EQ(pages[0].as_of, version(9)) << "an older rendering does not make up for the last change";
  EXPECT_EQ(pages[1].ids, (DocumentIds{{"3"}}));
  put_off({{{"1"}, ""}}, 11);
  EXPECT_EQ(due_list(docs().id).value().documents, 3) << "nor while its page is tried";
}

TEST_P(SourceContract, ADocumentThatBecomesDueAgainWhileItsPageIsTriedIsTriedAgainAfterAPause) {  // U1
  lead();
  const auto fail = [&](const std::string& id, std::int64_t as_of, const std::vector<DuePage>& written) {
    const auto transaction = begin();
    Acknowledged acknowledged;
    for (const DuePage& page : written) acknowledged.written_pages.push_back({page.number, page.as_of});
    transaction->save(acknowledged);
    transaction->add_repair(docs(), {{{id}, ""}},
                            {version(as_of), {}, "it was refused", std::chrono::milliseconds(1)});
    return transaction->commit();
  };
  fail("1", 4, {});
  ASSERT_TRUE(becomes_true([&] { return due_pages(docs().id).size() == 1; }));
  const std::vector<DuePage> read = due_pages(docs().id);
  fail("1", 7, {});
  EXPECT_EQ(due_documents(docs().id), Ids{"1"}) << "it is on the page that was read";
  const Committed joined = fail("2", 8, read);
  EXPECT_EQ(joined.due, std::set<IndexId>{docs().id});
  EXPECT_EQ(due_list(docs().id).value().documents, 2);
  ASSERT_TRUE(becomes_true([&] { return due_pages(docs().id).size() == 2; }));
  EXPECT_EQ(due_pages(docs().id)[0].number, read[0].number);
  EXPECT_EQ(due_pages(docs().id)[0].as_of, version(7));
  fail("1", 9, due_pages(docs().id));
  ASSERT_TRUE(becomes_true([&] { return due_pages(docs().id).size() == 1; }));
  EXPECT_GT(due_pages(docs().id)[0].number, read[0].number) << "what is taken off is not joined";
  take_off(due_pages(docs().id));
  EXPECT_FALSE(due_list(docs().id));
}

TEST_P(SourceContract, WhatARenderingCannotReachIsSwept) {
  lead();
  const Committed added = repair(*source_, docs(), {{{"1"}, "a routing"}, {{"2"}, ""}});
  EXPECT_EQ(due_documents(docs().id), Ids{"2"});
  ASSERT_EQ(added.jobs.size(), 1U);
  EXPECT_EQ(added.jobs[0].kind, JobKind::kSweep);
  EXPECT_EQ(jobs_of(docs().id, JobKind::kSweep).size(), 1U);
}

TEST_P(SourceContract, ARepairedDocumentIsDeletedWhereItWasFound) {
  lead();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  repair(*source_, parcels(), {{{"1"}, "Bonn"}});
  EXPECT_EQ(due_documents(parcels().id), Ids{"1"});
  Rendered documents;
  begin()->render_for(version(1), parcels(), {{"1"}}, 1 << 20, documents.sink());
  EXPECT_EQ(documents.routing.at("1"), "Ulm");
  EXPECT_EQ(documents.stale_routings.at("1"), std::set<std::string>{"Bonn"});
}

// As a document that had been found without a routing it was deleted there, before each write.
TEST_P(SourceContract, ADueDocumentIsNotTakenForOneWithoutARouting) {
  lead();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  ASSERT_EQ(render(*begin(), parcels(), {{"1"}}, {}).due.size(), 1U);
  Rendered documents;
  begin()->render_for(version(1), parcels(), {{"1"}}, 1 << 20, documents.sink());
  EXPECT_EQ(documents.stale_routings.at("1"), std::set<std::string>{});
}

}  // namespace
}  // namespace lockstep
