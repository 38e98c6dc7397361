// Jobs: how they are added, and how far they have come.
#include <gmock/gmock.h>

#include "replicator/error.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

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
  const std::vector<std::pair<JobKind, JobPosition>> kinds{
      {JobKind::kBackfill, AfterDocument{{"17"}}},
      {JobKind::kComparison, AfterDocument{{"18"}}},
      {JobKind::kSweep, Scanning{}},
  };
  for (const auto& each : kinds) {
    const JobKind kind = each.first;
    const JobPosition& position = each.second;
    const std::vector<Job> added = add_job(docs().id, kind);
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
  const std::vector<std::pair<std::string, std::string>> planted{
      {"sweep", "halfway"}, {"backfill", "halfway"}, {"comparison", "99999999999999999999"}};
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
