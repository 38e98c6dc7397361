// What a transaction records takes effect in commit(), all of it or nothing (S6).
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

/// Everything that commit() writes, as another connection sees it.
struct Seen {
  Position checkpoint;
  std::size_t jobs = 0;
  std::int64_t due = 0;
  std::int64_t dead_letters = 0;
  std::optional<std::string> set_aside;
  bool operator==(const Seen&) const = default;
};

Seen seen_by(Source& source) {
  source.reload();
  const AppliedIndex& parcels = source.pipeline().indices.at(1);
  std::int64_t due = 0;
  for (const DueList& list : source.changes().due()) due += list.documents + list.changes;
  return {source.changes().checkpoint(), source.changes().jobs().readable.size(), due,
          source.dead_letters().count({{parcels.id}, {}, ""}), parcels.set_aside};
}

class Everything {
 public:
  Everything(const AppliedIndex& docs, const AppliedIndex& parcels, DeadLetter letter)
      : docs_(docs), parcels_(parcels), letter_(std::move(letter)) {}

  void record(SourceTransaction& transaction, const Position& from) const {
    const Changes changes = transaction.read_changes(from, {1000});
    transaction.add_job(docs_.id, JobKind::kComparison, "a test");
    transaction.add_due_changes(docs_, changes.captured, DocumentVersion());
    transaction.add_repair(docs_, {{{"2"}, ""}}, {.reason = "a test"});
    transaction.set_aside(parcels_.id, "a test");
    Acknowledged acknowledged;
    acknowledged.position = changes.next;
    acknowledged.refused.push_back(letter_);
    transaction.save(acknowledged);
  }

 private:
  const AppliedIndex& docs_;
  const AppliedIndex& parcels_;
  DeadLetter letter_;
};

TEST_P(SourceContract, S6_NobodySeesWhatIsRecordedBeforeTheCommit) {
  lead();
  const auto observer = other();
  const Seen before = seen_by(*observer);
  writer_->insert_thing(1, 0);
  const auto transaction = begin();
  Everything(docs(), parcels(), refused(parcels(), "1", 1)).record(*transaction, position_);
  EXPECT_EQ(seen_by(*observer), before);
  const Committed added = transaction->commit();
  EXPECT_EQ(added.jobs.size(), 1U);
  EXPECT_EQ(added.due, std::set<IndexId>{docs().id});
  const Seen after = seen_by(*observer);
  EXPECT_NE(after.checkpoint, before.checkpoint);
  EXPECT_EQ(after.jobs, before.jobs + 1);
  EXPECT_EQ(after.due, before.due + 2);
  EXPECT_EQ(after.dead_letters, 1);
  EXPECT_EQ(after.set_aside, "a test");
}

TEST_P(SourceContract, S6_WithoutACommitNothingWasRecorded) {
  lead();
  const auto observer = other();
  const Seen before = seen_by(*observer);
  writer_->insert_thing(1, 0);
  {
    const auto transaction = begin();
    Everything(docs(), parcels(), refused(parcels(), "1", 1)).record(*transaction, position_);
  }
  EXPECT_EQ(seen_by(*observer), before);
  EXPECT_EQ(drain(), (Reported{{"1", 1}}));
}

TEST_P(SourceContract, S6_ACommitReturnsTheJobsThatItHasAdded) {
  lead();
  const auto transaction = begin();
  transaction->add_job(docs().id, JobKind::kComparison, "the first");
  transaction->add_job(parcels().id, JobKind::kSweep, "the second");
  const std::vector<Job> jobs = transaction->commit().jobs;
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].index, docs().id);
  EXPECT_EQ(jobs[0].kind, JobKind::kComparison);
  EXPECT_EQ(jobs[0].reason, "the first");
  EXPECT_EQ(jobs[0].position, JobPosition(NotBegun{}));
  EXPECT_EQ(jobs[1].index, parcels().id);
  EXPECT_EQ(jobs[1].kind, JobKind::kSweep);
  EXPECT_EQ(jobs[1].reason, "the second");
  EXPECT_LT(jobs[0].id, jobs[1].id);
  for (const Job& job : jobs) {
    const std::optional<Job> stored = find_job(job.id);
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->reason, job.reason);
  }
}

TEST_P(SourceContract, S6_ARoutingIsRecordedWithTheCommit) {
  lead();
  writer_->insert_town(1, "Ulm");
  writer_->insert_town(2, "Bonn");
  writer_->insert_parcel(1, 1);
  writer_->insert_parcel(2, 1);
  const auto render_for = [&](SourceTransaction& transaction, const std::string& id) {
    Rendered documents;
    transaction.render_for(version(1), parcels(), {{id}}, 1 << 20, documents.sink());
    return documents.stale_routings[id];
  };
  render_for(*begin(), "1");
  {
    const auto transaction = begin();
    render_for(*transaction, "2");
    transaction->commit();
  }
  writer_->move_parcel(1, 2);
  writer_->move_parcel(2, 2);
  EXPECT_EQ(render_for(*begin(), "1"), std::set<std::string>{});
  EXPECT_EQ(render_for(*begin(), "2"), std::set<std::string>{"Ulm"});
}

TEST_P(SourceContract, AnIndexThatIsSetAsideSaysWhyUntilItIsTakenBack) {
  lead();
  const auto reason_of = [](Source& source) {
    source.reload();
    return source.pipeline().indices.at(0).set_aside;
  };
  const auto observer = other();
  EXPECT_EQ(reason_of(*observer), std::nullopt);
  {
    const auto transaction = begin();
    transaction->set_aside(docs().id, "its view is gone");
    transaction->commit();
  }
  EXPECT_EQ(docs().set_aside, std::nullopt) << "it is as of opening or the last reload()";
  EXPECT_EQ(reason_of(*observer), "its view is gone");
  EXPECT_EQ(reason_of(*source_), "its view is gone");
  EXPECT_EQ(parcels().set_aside, std::nullopt);
  {
    const auto transaction = begin();
    transaction->take_back(docs().id);
    transaction->commit();
  }
  EXPECT_EQ(reason_of(*observer), std::nullopt);
  EXPECT_EQ(other()->pipeline().indices.at(0).set_aside, std::nullopt);
}

TEST_P(SourceContract, AnIndexThatIsSetAsideForgetsItsComparisonsAndSweepsOnly) {
  lead();
  finish_jobs();
  writer_->insert_thing(1, 0);
  make_due(docs());
  for (const JobKind kind : {JobKind::kBackfill, JobKind::kComparison, JobKind::kSweep}) {
    EXPECT_EQ(add_job(docs().id, kind).size(), 1U);
    EXPECT_EQ(add_job(parcels().id, kind).size(), 1U);
  }
  const auto transaction = begin();
  transaction->set_aside(docs().id, "its view is gone");
  transaction->commit();
  EXPECT_EQ(jobs_of(docs().id, JobKind::kComparison).size(), 0U);
  EXPECT_EQ(jobs_of(docs().id, JobKind::kSweep).size(), 0U);
  EXPECT_EQ(jobs_of(docs().id, JobKind::kBackfill).size(), 1U);
  EXPECT_TRUE(due_list(docs().id));
  EXPECT_EQ(jobs_of(parcels().id, JobKind::kComparison).size(), 1U);
  EXPECT_EQ(jobs_of(parcels().id, JobKind::kSweep).size(), 1U);
}

}  // namespace
}  // namespace lockstep
