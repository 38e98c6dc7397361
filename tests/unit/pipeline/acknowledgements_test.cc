#include "replicator/pipeline/acknowledgements.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

StepEnd at(const std::string& position, std::int64_t rows = 1) {
  StepEnd end;
  end.position = Position{position};
  end.rows = rows;
  return end;
}

StepEnd of_job(std::int64_t job, const std::string& after, std::int64_t documents) {
  StepEnd end;
  end.progress = JobProgress{JobId{job}, JobKind::kBackfill, AfterDocument{{after}}, documents, false};
  return end;
}

std::string position_of(Acknowledgements& acknowledgements) {
  const Acknowledged news = acknowledgements.take();
  return news.position ? news.position->text : "";
}

TEST(AcknowledgementsTest, AStepIsCompleteOnlyWhenEachOfItsBulksIs) {  // A1
  Acknowledgements acknowledgements;
  const StepId step = acknowledgements.add(Lane::tail(), 3, at("10"));
  acknowledgements.bulk_done(step);
  acknowledgements.bulk_done(step);
  EXPECT_FALSE(acknowledgements.has_news());
  acknowledgements.bulk_done(step);
  EXPECT_TRUE(acknowledgements.has_news());
  EXPECT_EQ(position_of(acknowledgements), "10");
}

TEST(AcknowledgementsTest, AStepWhoseBulkWasSplitIsCompleteWhenBothPartsAre) {  // A1
  Acknowledgements acknowledgements;
  const StepId step = acknowledgements.add(Lane::tail(), 1, at("10"));
  acknowledgements.bulk_added(step);
  acknowledgements.bulk_done(step);
  EXPECT_FALSE(acknowledgements.has_news());
  acknowledgements.bulk_done(step);
  EXPECT_EQ(position_of(acknowledgements), "10");
}

TEST(AcknowledgementsTest, AStepWithoutBulksIsCompleteAtOnce) {
  Acknowledgements acknowledgements;
  acknowledgements.add(Lane::tail(), 0, at("10"));
  EXPECT_EQ(position_of(acknowledgements), "10");
  EXPECT_EQ(acknowledgements.open(Lane::tail()), 0U);
}

TEST(AcknowledgementsTest, EachRowOfTheTailThatWroteSomethingCountsAsLongAsTheOldestOfItsStep) {
  Acknowledgements acknowledgements;
  StepEnd old = at("10", 3);
  old.oldest_change = std::chrono::steady_clock::now() - std::chrono::seconds(20);
  const StepId step = acknowledgements.add(Lane::tail(), 1, old);
  EXPECT_EQ(acknowledgements.end_of(step).rows, 3);
  acknowledgements.add(Lane::tail(), 0, at("20", 5));  // wrote nothing
  acknowledgements.bulk_done(
      acknowledgements.add(Lane::of(JobId{7}), 1, of_job(7, "1", 1)));  // no change of a row
  EXPECT_EQ(acknowledgements.take_delays().sum_seconds, 0) << "not acknowledged yet";
  acknowledgements.bulk_done(step);
  const DelayHistogram delays = acknowledgements.take_delays();
  EXPECT_EQ(delays.counts.at(11), 3) << "above 10 s, up to 30 s";
  EXPECT_NEAR(delays.sum_seconds, 60, 30);
  EXPECT_EQ(acknowledgements.take_delays().sum_seconds, 0) << "taken";
}

TEST(AcknowledgementsTest, ThePositionNeverPassesAnOpenStep) {  // A2
  Acknowledgements acknowledgements;
  const StepId first = acknowledgements.add(Lane::tail(), 1, at("10"));
  const StepId second = acknowledgements.add(Lane::tail(), 1, at("20"));
  acknowledgements.add(Lane::tail(), 0, at("30"));
  acknowledgements.bulk_done(second);
  EXPECT_FALSE(acknowledgements.has_news());
  EXPECT_EQ(acknowledgements.open(Lane::tail()), 3U);
  acknowledgements.bulk_done(first);
  EXPECT_EQ(position_of(acknowledgements), "30");
  EXPECT_EQ(acknowledgements.open(Lane::tail()), 0U);
}

TEST(AcknowledgementsTest, ThePositionStopsBeforeTheFirstOpenStep) {  // A2
  Acknowledgements acknowledgements;
  const StepId first = acknowledgements.add(Lane::tail(), 1, at("10"));
  acknowledgements.add(Lane::tail(), 1, at("20"));
  const StepId third = acknowledgements.add(Lane::tail(), 1, at("30"));
  acknowledgements.bulk_done(third);
  acknowledgements.bulk_done(first);
  EXPECT_EQ(position_of(acknowledgements), "10");
}

TEST(AcknowledgementsTest, AStepWithoutPositionDoesNotMoveIt) {
  Acknowledgements acknowledgements;
  acknowledgements.add(Lane::tail(), 0, StepEnd{});  // the first part of a chunk
  EXPECT_FALSE(acknowledgements.take().position.has_value());
  acknowledgements.add(Lane::tail(), 0, at("10"));
  EXPECT_EQ(position_of(acknowledgements), "10");
}

TEST(AcknowledgementsTest, WhatWasTakenIsNotGivenAgain) {
  Acknowledgements acknowledgements;
  acknowledgements.add(Lane::tail(), 0, at("10"));
  acknowledgements.take();
  EXPECT_FALSE(acknowledgements.has_news());
  EXPECT_EQ(position_of(acknowledgements), "");
}

TEST(AcknowledgementsTest, LanesDoNotWaitForEachOther) {
  Acknowledgements acknowledgements;
  acknowledgements.add(Lane::of(JobId{7}), 1, of_job(7, "100", 50));
  acknowledgements.add(Lane::tail(), 0, at("10"));
  EXPECT_EQ(position_of(acknowledgements), "10");
  EXPECT_EQ(acknowledgements.open(Lane::of(JobId{7})), 1U);
}

TEST(AcknowledgementsTest, AJobsProgressAddsUpUntilItIsTaken) {
  Acknowledgements acknowledgements;
  acknowledgements.add(Lane::of(JobId{7}), 0, of_job(7, "100", 50));
  acknowledgements.add(Lane::of(JobId{7}), 0, of_job(7, "200", 30));
  acknowledgements.add(Lane::of(JobId{8}), 0, of_job(8, "5", 1));
  const Acknowledged news = acknowledgements.take();
  ASSERT_EQ(news.jobs.size(), 2U);
  EXPECT_EQ(news.jobs[0].job, JobId{7});
  EXPECT_EQ(news.jobs[0].position, JobPosition(AfterDocument{{"200"}}));
  EXPECT_EQ(news.jobs[0].done_documents, 80);
  EXPECT_EQ(news.jobs[1].job, JobId{8});
  acknowledgements.add(Lane::of(JobId{7}), 0, of_job(7, "300", 20));
  EXPECT_EQ(acknowledgements.take().jobs.at(0).done_documents, 20);
}

TEST(AcknowledgementsTest, RowsCountWhenTheyAreAcknowledged) {
  Acknowledgements acknowledgements;
  const StepId step = acknowledgements.add(Lane::tail(), 1, at("10", 4));
  acknowledgements.add(Lane::tail(), 0, at("12", 2));
  EXPECT_EQ(acknowledgements.rows(), 0);
  acknowledgements.bulk_done(step);
  EXPECT_EQ(acknowledgements.rows(), 6);
}

TEST(AcknowledgementsTest, TheOldestChangeIsThatOfTheFirstOpenStep) {
  Acknowledgements acknowledgements;
  EXPECT_FALSE(acknowledgements.oldest_change().has_value());
  StepEnd older = at("10");
  older.oldest_change = SteadyTime(std::chrono::seconds(5));
  StepEnd newer = at("20");
  newer.oldest_change = SteadyTime(std::chrono::seconds(9));
  const StepId first = acknowledgements.add(Lane::tail(), 1, older);
  const StepId second = acknowledgements.add(Lane::tail(), 1, newer);
  EXPECT_EQ(acknowledgements.oldest_change(), SteadyTime(std::chrono::seconds(5)));
  acknowledgements.bulk_done(first);
  EXPECT_EQ(acknowledgements.oldest_change(), SteadyTime(std::chrono::seconds(9)));
  acknowledgements.bulk_done(second);
  EXPECT_FALSE(acknowledgements.oldest_change().has_value());
}

TEST(AcknowledgementsTest, ALaneThatHasEndedMayBeginAgain) {
  Acknowledgements acknowledgements;
  acknowledgements.bulk_done(acknowledgements.add(Lane::of(JobId{7}), 1, of_job(7, "100", 50)));
  acknowledgements.take();
  const StepId again = acknowledgements.add(Lane::of(JobId{7}), 1, of_job(7, "200", 50));
  EXPECT_EQ(acknowledgements.open(Lane::of(JobId{7})), 1U);
  acknowledgements.bulk_done(again);
  EXPECT_EQ(acknowledgements.take().jobs.at(0).position, JobPosition(AfterDocument{{"200"}}));
}

TEST(AcknowledgementsTest, AStepKnowsWhatIsLeftOfItAndBeforeIt) {
  Acknowledgements acknowledgements;
  const StepId first = acknowledgements.add(Lane{JobId{5}}, 2, {});
  const StepId second = acknowledgements.add(Lane{JobId{5}}, 1, {});
  acknowledgements.bulk_done(first);
  EXPECT_EQ(acknowledgements.bulks_left(first), 1U);
  EXPECT_TRUE(acknowledgements.is_first(first));
  EXPECT_FALSE(acknowledgements.is_first(second));
  acknowledgements.bulk_done(first);
  EXPECT_TRUE(acknowledgements.is_first(second));
}

}  // namespace
}  // namespace lockstep
