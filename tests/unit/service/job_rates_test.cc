#include "replicator/service/job_rates.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class JobRatesTest : public testing::Test {
 protected:
  JobRatesTest() {
    tell([this](ReplicationProgress& progress) {
      progress.state = PipelineState::kBackfilling;
      progress.indices[IndexId{1}].jobs = {
          {.id = kJob, .kind = JobKind::kBackfill, .done = 5'000, .total = 48'000, .taken_up_at = now_}};
    });
  }

  void tell(const std::function<void(ReplicationProgress&)>& change) { board_.update(change); }
  void tell_job(const std::function<void(JobStatus&)>& change) {
    tell([&](ReplicationProgress& progress) { change(progress.indices[IndexId{1}].jobs[0]); });
  }

  /// Of the job, once it has done this in each second of the time.
  double rate_after(seconds time, std::int64_t documents_a_second) {
    for (seconds passed{0}; passed < time; ++passed) {
      now_ += seconds(1);
      tell_job([&](JobStatus& job) { job.done += documents_a_second; });
      rates_.look(board_, now_);
    }
    rates_.look(board_, now_);
    const auto rates = board_.read().job_rates;
    const auto rate = rates.find(kJob);
    return rate == rates.end() ? 0 : rate->second;
  }

  static constexpr JobId kJob{4};
  SteadyTime now_{std::chrono::hours(1)};
  ProgressBoard board_;
  JobRates rates_;
};

// The time left was that of the age of the job's row: a backfill that was stopped overnight had hours to go.
TEST_F(JobRatesTest, TheTimeBeforeThisLeaderTookTheJobUpDoesNotCount) {
  rate_after(seconds(1), 0);
  EXPECT_DOUBLE_EQ(rate_after(seconds(20), 1'000), 1'000);
  now_ += minutes(30);
  tell_job([&](JobStatus& job) { job.taken_up_at = now_; });  // another leadership
  EXPECT_EQ(rate_after(seconds(1), 0), 0) << "nothing is known yet";
  EXPECT_DOUBLE_EQ(rate_after(seconds(5), 10), 10);
}

TEST_F(JobRatesTest, AJobThatWaitsBeforeItsFirstPageHasNoRateAndWaitingDoesNotSlowIt) {
  EXPECT_EQ(rate_after(seconds(600), 0), 0);
  EXPECT_EQ(rate_after(seconds(2), 300), 0) << "a page or two tell nothing";
  EXPECT_DOUBLE_EQ(rate_after(seconds(1), 300), 300);
}

// The estimate stayed what it was while the job stood.
TEST_F(JobRatesTest, AJobThatStandsHasNoRateAndItsRestDoesNotCountAfterwards) {
  rate_after(seconds(1), 0);
  ASSERT_DOUBLE_EQ(rate_after(seconds(10), 200), 200);
  const double after_a_pause = rate_after(JobRates::kStands - seconds(1), 0);
  EXPECT_GT(after_a_pause, 0);
  EXPECT_LT(after_a_pause, 200) << "it falls meanwhile";
  EXPECT_EQ(rate_after(seconds(1), 0), 0);
  EXPECT_EQ(rate_after(seconds(300), 0), 0);
  EXPECT_DOUBLE_EQ(rate_after(seconds(3), 50), 50);
}

TEST_F(JobRatesTest, AJobThatWaitsForAServerHasNoRateAtOnce) {
  rate_after(seconds(1), 0);
  ASSERT_GT(rate_after(seconds(10), 200), 0);
  tell_job([](JobStatus& job) { job.waits = true; });
  EXPECT_EQ(rate_after(seconds(1), 0), 0);
}

// Many jobs side by side took turns, so that each seemed to stand.
TEST_F(JobRatesTest, WhatIsDueOfAnIndexHasTheRateAtWhichItIsWritten) {
  const auto due_rate_after = [&](seconds time, std::int64_t documents_a_second) {
    for (seconds passed{0}; passed < time; ++passed) {
      now_ += seconds(1);
      tell([&](ReplicationProgress& progress) {
        progress.indices[IndexId{1}].due_written += documents_a_second;
      });
      rates_.look(board_, now_);
    }
    const auto rates = board_.read().due_rates;
    return rates.contains(IndexId{1}) ? rates.at(IndexId{1}) : 0.0;
  };
  EXPECT_EQ(due_rate_after(seconds(5), 100), 0) << "nothing is due";
  tell([](ReplicationProgress& progress) {
    progress.indices[IndexId{1}].due = {.index = IndexId{1}, .documents = 50'000};
  });
  EXPECT_EQ(due_rate_after(seconds(30), 0), 0) << "its documents are being found";
  EXPECT_DOUBLE_EQ(due_rate_after(seconds(10), 8'100), 8'100);
  EXPECT_EQ(due_rate_after(JobRates::kStands, 0), 0) << "it stands";
  EXPECT_DOUBLE_EQ(due_rate_after(seconds(3), 50), 50);
  tell([](ReplicationProgress& progress) { progress.indices[IndexId{1}].due_written = 10; });
  EXPECT_EQ(due_rate_after(seconds(1), 0), 0) << "another leadership counts from 0";
}

// Small changes of the last minute made the time left of a large one three times what it took.
TEST_F(JobRatesTest, TheTimeLeftOfALargeChangeIsNotToldByTheRateOfTheSmallOnesBeforeIt) {
  const auto write = [&](seconds time, std::int64_t documents_a_second, std::int64_t more_a_second) {
    for (seconds passed{0}; passed < time; ++passed) {
      now_ += seconds(1);
      tell([&](ReplicationProgress& progress) {
        IndexProgress& index = progress.indices[IndexId{1}];
        index.due_written += documents_a_second;
        index.due->documents += more_a_second - documents_a_second;
      });
      rates_.look(board_, now_);
    }
  };
  tell([](ReplicationProgress& progress) {
    progress.indices[IndexId{1}].due = {.index = IndexId{1}, .documents = 100};
  });
  write(seconds(60), 100, 100);
  tell([](ReplicationProgress& progress) { progress.indices[IndexId{1}].due->documents += 200'000; });
  write(seconds(15), 5'000, 0);
  const std::int64_t left = board_.read().indices.at(IndexId{1}).due->documents;
  EXPECT_EQ(time_left(0, left, board_.read().due_rates.at(IndexId{1})),
            std::chrono::milliseconds(left * 1'000 / 5'000));
}

TEST_F(JobRatesTest, WhoLeadsNoLongerKnowsNoRate) {
  rate_after(seconds(1), 0);
  ASSERT_GT(rate_after(seconds(10), 200), 0);
  tell([](ReplicationProgress& progress) { progress.state = PipelineState::kStandingBy; });
  EXPECT_EQ(rate_after(seconds(1), 200), 0);
}

TEST_F(JobRatesTest, OnlyTheLastMinuteCounts) {
  rate_after(seconds(1), 0);
  rate_after(seconds(100), 1'000);
  EXPECT_DOUBLE_EQ(rate_after(seconds(60), 10), 10);
}

TEST(TimeLeftTest, ItNeedsATotalThatIsNotReachedAndARate) {
  EXPECT_EQ(time_left(12'000, 48'000, 1'200), seconds(30));
  EXPECT_EQ(time_left(10, 10, 5), seconds(0));
  EXPECT_EQ(time_left(12'000, 48'000, 0), std::nullopt) << "it stands";
  EXPECT_EQ(time_left(12'000, std::nullopt, 1'200), std::nullopt);
  EXPECT_EQ(time_left(48'001, 48'000, 1'200), std::nullopt) << "the estimate was wrong";
}

}  // namespace
}  // namespace lockstep
