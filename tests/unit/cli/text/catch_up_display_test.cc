#include "replicator/cli/text/catch_up_display.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

ReplicationProgress backfilling(std::int64_t done, std::optional<std::int64_t> total) {
  ReplicationProgress progress;
  progress.state = PipelineState::kBackfilling;
  progress.indices[IndexId{1}] = {.alias = "posts", .jobs = {{.id = JobId{1}, .done = done, .total = total}}};
  return progress;
}

TEST(CatchUpDisplayTest, ABarWithRateAndRemainingTime) {
  EXPECT_EQ(catch_up_line(backfilling(12'000, 48'000), 3'600, 120),
            "[#####               ] 12,000 of 48,000 documents  25 %  3,600/s  10.0 s left");
}

TEST(CatchUpDisplayTest, AnEstimateThatWasTooLowIsNotPassed) {
  EXPECT_EQ(catch_up_line(backfilling(50'000, 48'000), 3'600, 120),
            "[####################] 50,000 of 50,000 documents  100 %  3,600/s");
}

// The bar stood at its end while the documents of a large change were written.
TEST(CatchUpDisplayTest, WhatIsDueCountsInTheBar) {
  ReplicationProgress progress = backfilling(2'000, 8'000);
  progress.indices[IndexId{2}] = {
      .alias = "users", .due = DueList{.documents = 30'000}, .due_written = 10'000};
  EXPECT_EQ(catch_up_line(progress, 3'600, 120),
            "[#####               ] 12,000 of 48,000 documents  25 %  3,600/s  10.0 s left");
}

TEST(CatchUpDisplayTest, WithoutJobsItIsTheStatusLine) {
  ReplicationProgress progress;
  progress.state = PipelineState::kFollowing;
  EXPECT_EQ(catch_up_line(progress, 10, 120), "following: nothing pending, 10/s");
}

TEST(CatchUpDisplayTest, WhoWaitsSaysWhy) {
  ReplicationProgress progress = backfilling(1, 2);
  progress.state = PipelineState::kWaitingForElasticsearch;
  progress.reason = "connection refused";
  EXPECT_EQ(catch_up_line(progress, 0, 120), "waiting for elasticsearch: connection refused");
}

TEST(CatchUpDisplayTest, TheLineFitsTheTerminal) {
  EXPECT_EQ(catch_up_line(backfilling(12'000, 48'000), 3'600, 10), "[#####   ");
}

TEST(CatchUpDisplayTest, AReasonThatDoesNotFitIsSaidInFullOnce) {
  ReplicationProgress progress;
  progress.state = PipelineState::kWaitingForElasticsearch;
  progress.reason = "HTTP 403 security_exception: no permissions for [indices:data/write/bulk[s]]";
  EXPECT_EQ(long_reason(progress, "", 80), "waiting for elasticsearch: " + progress.reason);
  EXPECT_EQ(long_reason(progress, progress.reason, 80), "");
  EXPECT_EQ(long_reason(progress, "", 200), "");
}

}  // namespace
}  // namespace lockstep
