#include "replicator/pipeline/jobs/job_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

class JobRunnerTest : public testing::Test {
 protected:
  JobRunnerTest() { world_.config.replication.chunk_documents = 10; }

  /// One page, and its outcome.
  bool page(Leader& leader) {
    const bool worked = leader.jobs.turn();
    EXPECT_TRUE(leader.take_all_outcomes());
    return worked;
  }
  Job job() const { return world_.database.state().jobs.begin()->second.job; }
  Values all_posts() const {
    Values ids;
    const State state = world_.database.state();
    for (const auto& [id, row] : state.views.at(kPosts)) ids.push_back(id);
    return ids;
  }
  bool no_jobs() const { return world_.database.state().jobs.empty(); }

  World world_;
};

TEST_F(JobRunnerTest, ABackfillGoesThroughTheWholeViewPageByPage) {
  world_.add_silently(95);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  EXPECT_FALSE(leader.jobs.all_done());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 10U);
  EXPECT_TRUE(leader.jobs.all_done());
  EXPECT_TRUE(no_jobs());
}

TEST_F(JobRunnerTest, AnEmptyViewIsBackfilledAtOnce) {
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(no_jobs());
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 0U);
}

TEST_F(JobRunnerTest, TheNextLeaderResumesABackfillAtThePositionThatWasAcknowledged) {
  world_.add_silently(50);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  {
    Leader leader(world_);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(page(leader));
    leader.save();
    ASSERT_TRUE(page(leader));  // written, and not saved
  }
  EXPECT_EQ(job().position, JobPosition(AfterDocument{{"p0019"}}));
  EXPECT_EQ(job().done, 20);
  Leader next(world_);
  ASSERT_TRUE(next.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.elasticsearch.operations_on("p0019").size(), 1U);
  EXPECT_EQ(world_.elasticsearch.operations_on("p0020").size(), 2U)
      << "what was not acknowledged is done again";
}

TEST_F(JobRunnerTest, ABackfillNeverWritesAnOlderStateOverANewerOne) {
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  world_.elasticsearch.hold();
  ASSERT_TRUE(leader.jobs.turn());  // p0000 … p0009, held
  world_.elasticsearch.await_held(1);
  world_.put_post("p0003", "ann", 7);
  world_.put_post("p0025", "ann", 8);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(JobRunnerTest, PagesAreBoundedByTheBulksSizeToo) {
  world_.config.elasticsearch.bulk_bytes = 200;
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_GE(world_.elasticsearch.bulk_requests(), 4U);
}

TEST_F(JobRunnerTest, AComparisonLooksTwoPagesUpAtATimeAndTheTailGoesOnMeanwhile) {
  world_.add_silently(95);
  world_.elasticsearch.damage("posts", "p0093", R"({"user":"nobody","n":0})");
  world_.database.add_job(kPosts, JobKind::kComparison);
  std::atomic<int> asked{0};
  std::atomic<int> at_most{0};
  std::atomic<bool> held{true};
  world_.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (!request.path.ends_with("/_mget")) return std::nullopt;
    at_most = std::max<int>(at_most, ++asked);
    EXPECT_TRUE(eventually([&] { return !held; }));
    --asked;
    return std::nullopt;
  });
  Leader leader(world_);
  EXPECT_TRUE(eventually([&] {
    leader.jobs.turn();
    return asked == 2;
  }));
  world_.put_post("p0003", "ann", 7);
  ASSERT_TRUE(leader.tail.turn());
  EXPECT_TRUE(leader.take_all_outcomes());
  EXPECT_TRUE(world_.elasticsearch.get("posts", "p0003")) << "it waits for no page";
  held = false;
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(at_most, 2);
  EXPECT_TRUE(no_jobs());
}

TEST_F(JobRunnerTest, OnlySoManyPagesAreOpenAtOnce) {
  world_.config.elasticsearch.bulks_in_flight = 20;
  world_.add_silently(200);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  world_.elasticsearch.hold();
  int pages = 0;
  while (leader.jobs.turn()) ++pages;
  EXPECT_EQ(pages, 4);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(JobRunnerTest, TheFirstPageOfAJobIsSmall) {
  world_.config.replication.chunk_documents = 2'000;
  world_.add_silently(3'000);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  world_.elasticsearch.hold();
  ASSERT_TRUE(leader.jobs.turn());
  EXPECT_EQ(leader.writer.pending(kPosts), 500);
  ASSERT_TRUE(leader.jobs.turn());
  EXPECT_EQ(leader.writer.pending(kPosts), 2'500);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
}

TEST_F(JobRunnerTest, JobsLeaveOneBulkToTheTail) {
  world_.config.elasticsearch.bulks_in_flight = 3;
  world_.add_silently(200);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  world_.elasticsearch.hold();
  while (leader.jobs.turn()) {
  }
  EXPECT_EQ(leader.writer.requests_in_flight(), 2U);
  EXPECT_TRUE(leader.writer.has_room());
  world_.put_post("small", "bob");
  EXPECT_TRUE(leader.tail.turn()) << "a small change does not wait for a big one";
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
}

TEST_F(JobRunnerTest, AFanOutWritesItsDocumentsAndForgetsThemPageByPage) {
  world_.add_silently(35);
  Values ids = all_posts();
  ids.push_back("gone");
  world_.elasticsearch.damage("posts", "gone", "{}");
  world_.database.add_job(kPosts, JobKind::kFanOut, ids);
  Leader leader(world_);
  ASSERT_TRUE(page(leader));
  leader.save();
  EXPECT_EQ(world_.database.state().jobs.begin()->second.documents.size(), 26U);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(no_jobs());
}

TEST_F(JobRunnerTest, TheNextLeaderResumesAFanOut) {
  world_.add_silently(35);
  Values ids = all_posts();
  world_.database.add_job(kPosts, JobKind::kFanOut, ids);
  {
    Leader leader(world_);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(page(leader));
    leader.save();
  }
  Leader next(world_);
  ASSERT_TRUE(next.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.elasticsearch.operations().size(), 35U) << "each document once";
}

TEST_F(JobRunnerTest, AFanOutWaitsForTheOneThatItIsBehind) {
  world_.add_silently(35);
  const JobId ahead = world_.database.add_job(kPosts, JobKind::kFanOut, all_posts());
  Leader leader(world_);
  Job behind{
      world_.database.add_job(kPosts, JobKind::kFanOut, {"p0000"}), kPosts, JobKind::kFanOut, {}, 0, {}, ""};
  behind.behind = ahead;
  leader.jobs.add(behind);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.elasticsearch.operations().size(), 36U);
  EXPECT_EQ(world_.elasticsearch.operations().back().id, "p0000");
  EXPECT_TRUE(no_jobs());
}

TEST_F(JobRunnerTest, APageThatIsLargerThanABulkIsWrittenInParts) {
  world_.config.elasticsearch.bulk_bytes = 60;
  world_.add_silently(10);
  Values ids = all_posts();
  world_.database.add_job(kPosts, JobKind::kFanOut, ids);
  Leader leader(world_);
  ASSERT_TRUE(page(leader));
  leader.save();
  EXPECT_EQ(world_.database.state().jobs.begin()->second.documents.size(), 10U)
      << "the page is acknowledged as a whole";
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(JobRunnerTest, ASweepDeletesWhatNoViewHasAndNothingElse) {
  world_.add_silently(25);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.elasticsearch.damage("posts", "surplus", "{}");
  world_.elasticsearch.damage("posts", "p0003", "{}", "a routing in an index without");
  const std::size_t before = world_.elasticsearch.operations().size();
  leader.jobs.add(
      Job{world_.database.add_job(kPosts, JobKind::kSweep), kPosts, JobKind::kSweep, {}, 0, {}, ""});
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.elasticsearch.operations().size() - before, 3U) << "two deletes, and p0003 for sure";
  EXPECT_TRUE(no_jobs());
}

TEST_F(JobRunnerTest, ASweepDeletesADocumentUnderAWrongRouting) {
  world_.put_file("f", "right", 1);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.elasticsearch.damage("files", "f", "{}", "wrong");
  leader.jobs.add(
      Job{world_.database.add_job(kFiles, JobKind::kSweep), kFiles, JobKind::kSweep, {}, 0, {}, ""});
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(JobRunnerTest, ADocumentThatMovesWithinItsShardDuringASweepIsNotTakenAlong) {
  World one_shard(1);
  one_shard.put_file("f", "a", 1);
  Leader leader(one_shard);
  ASSERT_TRUE(leader.catch_up());
  leader.jobs.add(
      Job{one_shard.database.add_job(kFiles, JobKind::kSweep), kFiles, JobKind::kSweep, {}, 0, {}, ""});
  bool moved = false;
  one_shard.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.path.find("_search") == std::string::npos || moved) return std::nullopt;
    moved = true;  // the last refresh has it under "a"
    one_shard.put_file("f", "b", 1);
    EXPECT_TRUE(leader.tail.turn() && leader.take_all_outcomes());
    return std::nullopt;
  });
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(moved);
  EXPECT_EQ(one_shard.difference(), "");
}

TEST_F(JobRunnerTest, ADocumentThatComesBackDuringASweepStays) {
  world_.elasticsearch.damage("posts", "back", "{}");
  world_.database.add_job(kPosts, JobKind::kSweep);
  Leader leader(world_);
  world_.elasticsearch.hold();
  ASSERT_TRUE(leader.jobs.turn());  // its delete is on the way
  world_.elasticsearch.await_held(1);
  world_.put_post("back", "ann", 1);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

// The write of a row that a truncate has taken used to land behind the scan.
TEST_F(JobRunnerTest, ASweepBeginsWhenWhatWasOnItsWayHasLanded) {
  Leader leader(world_);
  world_.elasticsearch.hold();
  world_.put_post("late", "ann", 1);
  ASSERT_TRUE(leader.tail.turn());
  world_.elasticsearch.await_held(1);
  world_.database.commit([](Change& change) { change.remove(kPosts, "late").truncated(kPostRows); });
  ASSERT_TRUE(eventually([&] { return leader.tail.turn(); }));
  for (int i = 0; i < 10; ++i) leader.jobs.turn();
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(JobRunnerTest, ASweepScansAgainWhenNoWriteOfADeadLeaderCanLandAnyMore) {
  world_.database.add_job(kPosts, JobKind::kSweep);
  Leader leader(world_, std::chrono::steady_clock::now() + std::chrono::seconds(2));
  while (leader.jobs.turn()) ASSERT_TRUE(leader.take_all_outcomes());
  world_.elasticsearch.damage("posts", "late", "{}");
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(no_jobs());
}

TEST_F(JobRunnerTest, TheNextLeaderBeginsASweepAnew) {
  for (int i = 0; i < 25; ++i) world_.elasticsearch.damage("posts", std::to_string(i), "{}");
  world_.database.add_job(kPosts, JobKind::kSweep);
  {
    Leader leader(world_);
    ASSERT_TRUE(page(leader));
    leader.save();
  }
  Leader next(world_);
  ASSERT_TRUE(next.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(no_jobs());
}

TEST_F(JobRunnerTest, ATruncateDuringABackfillOfWhichNothingIsSavedIsNotTakenForDone) {
  world_.add_silently(25);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  ASSERT_TRUE(page(leader));  // p0000 … p0009, before the truncate
  world_.database.commit([](Change& change) {
    for (const auto& [id, row] : View(change.view(kPosts))) change.put(kPosts, id, R"({"user":null,"n":0})");
    change.truncated(kUserRows);
  });
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(JobRunnerTest, ATruncateDuringASweepOfWhichNothingIsSavedIsNotTakenForDone) {
  for (int i = 10; i < 35; ++i) world_.put_post(std::to_string(i), "ann");
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  leader.jobs.add(
      Job{world_.database.add_job(kPosts, JobKind::kSweep), kPosts, JobKind::kSweep, {}, 0, {}, ""});
  ASSERT_TRUE(page(leader));  // the first ten are as the view has them
  world_.database.commit([](Change& change) {
    for (const auto& [id, row] : View(change.view(kPosts))) change.remove(kPosts, id);
    change.truncated(kPostRows);
  });
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(JobRunnerTest, SeveralJobsTakeTurns) {
  world_.add_silently(30);
  world_.elasticsearch.damage("files", "surplus", "{}");
  world_.database.add_job(kPosts, JobKind::kBackfill);
  world_.database.add_job(kFiles, JobKind::kSweep);
  Leader leader(world_);
  ASSERT_TRUE(page(leader));
  ASSERT_TRUE(page(leader));
  EXPECT_TRUE(world_.elasticsearch.documents("files").empty()) << "the second job has had its turn";
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(JobRunnerTest, AJobIsRunOnceHoweverOftenItIsAdded) {
  world_.add_silently(5);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  for (Job& job : leader.source.changes().jobs().readable) leader.jobs.add(std::move(job));
  EXPECT_EQ(leader.jobs.progress().size(), 1U);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.elasticsearch.operations().size(), 5U);
}

TEST_F(JobRunnerTest, ProgressCountsWhatWasDoneBefore) {
  world_.add_silently(50);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  {
    Leader leader(world_);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(page(leader));
    leader.save();
  }
  Leader next(world_);
  ASSERT_TRUE(page(next));
  ASSERT_EQ(next.jobs.progress().size(), 1U);
  EXPECT_EQ(next.jobs.progress()[0].first, kPosts);
  EXPECT_EQ(next.jobs.progress()[0].second.done, 30);
}

}  // namespace
}  // namespace lockstep::fake
