#include "replicator/pipeline/jobs/job_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>

#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;

/// What is logged while it lives.
class Logged {
 public:
  Logged() { spdlog::set_default_logger(std::make_shared<spdlog::logger>("", said_)); }
  ~Logged() { spdlog::set_default_logger(before_); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;

  std::vector<std::string> lines() const { return said_->last_formatted(); }

 private:
  const std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> said_ =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

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

// A backfill that a TRUNCATE or a reset had caused had no total until it was done.
TEST_F(JobRunnerTest, AJobOverAViewLearnsItsTotalWithItsFirstPage) {
  world_.add_silently(95);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  {
    Leader leader(world_);
    EXPECT_EQ(leader.jobs.progress().at(0).second.total, std::nullopt);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(page(leader));
    EXPECT_EQ(leader.jobs.progress().at(0).second.total, 95);
    leader.save();
  }
  EXPECT_EQ(job().total, 95) << "the next leader knows it, too";
  EXPECT_EQ(job().done, 20);
}

TEST_F(JobRunnerTest, AJobThatWaitsForItsIndexSaysSo) {
  world_.add_silently(5);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  EXPECT_FALSE(leader.jobs.progress().at(0).second.waits);
  leader.standing.pause(kPosts, "it fails");
  EXPECT_TRUE(leader.jobs.progress().at(0).second.waits);
}

TEST_F(JobRunnerTest, APageThatWaitsForALockTooLongIsPutOffAndTheOthersGoOn) {
  world_.add_silently(5);
  world_.put_file("a", "r", 1);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  world_.database.add_job(kFiles, JobKind::kBackfill);
  Leader leader(world_);
  bool is_locked = true;
  world_.database.at_step([&](Step step) {
    if (step == Step::kRender && std::exchange(is_locked, false))
      throw ViewTooSlow({"rendering", "a lock", "", Retry::kLater, Server::kSource}, kPosts);
  });
  EXPECT_TRUE(page(leader));
  EXPECT_EQ(leader.jobs.trouble(kPosts), "rendering: a lock");
  EXPECT_EQ(leader.jobs.trouble(kFiles), "");
  EXPECT_FALSE(is_locked);
  EXPECT_FALSE(leader.jobs.turn()) << "it is tried again after a pause";
}

TEST_F(JobRunnerTest, AnEmptyViewIsBackfilledAtOnce) {
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(no_jobs());
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 0U);
}

TEST_F(JobRunnerTest, TheEndOfABackfillIsLogged) {
  world_.add_silently(50);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  const Logged logged;
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_THAT(logged.lines(),
              Contains(ContainsRegex("the backfill of posts is done: 50 documents in [0-9.]+ s")));
}

TEST_F(JobRunnerTest, TheEndOfABackfillThatAnotherLeaderBeganSaysWhatIsItsOwn) {
  world_.add_silently(50);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  {
    Leader leader(world_);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(page(leader));
    leader.save();
  }
  const Logged logged;
  Leader next(world_);
  ASSERT_TRUE(next.catch_up());
  EXPECT_THAT(logged.lines(), Contains(HasSubstr("is done: 50 documents, the last 30 of them in ")));
}

TEST_F(JobRunnerTest, TheEndOfAComparisonIsLogged) {
  world_.database.add_job(kPosts, JobKind::kComparison);
  const Logged logged;
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_THAT(logged.lines(), Contains(HasSubstr("the comparison of posts is done: 0 documents in ")));
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

// The second truncate joined the sweep, which waited for what was on its way before the first one alone.
TEST_F(JobRunnerTest, WhatIsTruncatedWhileASweepWaitsIsNotOverlooked) {
  std::latch first_may_land{1};
  std::latch late_may_land{1};
  world_.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.body.find("\"first\"") != std::string_view::npos) first_may_land.wait();
    if (request.body.find("\"late\"") != std::string_view::npos) late_may_land.wait();
    return std::nullopt;
  });
  const auto truncate = [&](Leader& leader, const std::string& post) {
    world_.database.commit([&](Change& change) { change.remove(kPosts, post).truncated(kPostRows); });
    ASSERT_TRUE(eventually([&] { return leader.tail.turn(); }));
  };
  Leader leader(world_);
  world_.put_post("first", "ann", 1);
  ASSERT_TRUE(leader.tail.turn());
  truncate(leader, "other");
  for (int i = 0; i < 10; ++i) leader.jobs.turn();
  world_.put_post("late", "ann", 1);
  ASSERT_TRUE(eventually([&] { return leader.tail.turn(); }));
  truncate(leader, "late");
  first_may_land.count_down();
  for (int i = 0; i < 50; ++i) {
    leader.jobs.turn();
    leader.writer.take_outcomes(std::chrono::milliseconds(2));
  }
  late_may_land.count_down();
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

// Reported: for 90 s after a leader had died, /readyz answered that nothing was acknowledged.
TEST_F(JobRunnerTest, ALeaderWhoseSweepWaitsForItsNextScanIsNotStuck) {
  world_.database.add_job(kPosts, JobKind::kSweep);
  Leader leader(world_, std::chrono::steady_clock::now() + std::chrono::hours(1));
  const auto advanced_at = [&] { return leader.board.read().advanced_at; };
  const auto is_resting = [&] {
    return std::ranges::all_of(leader.jobs.progress(), [](const auto& job) { return job.second.rests; });
  };
  ASSERT_FALSE(is_resting());
  leader.jobs.add(
      Job{world_.database.add_job(kPosts, JobKind::kSweep), kPosts, JobKind::kSweep, {}, 0, {}, ""});
  ASSERT_TRUE(eventually([&] {
    leader.tail.turn();
    leader.jobs.turn();
    return is_resting() && leader.take_all_outcomes();
  }));
  const SteadyTime before = advanced_at();
  leader.report.update();
  EXPECT_GT(advanced_at(), before);
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

// Each began beside the others, and all wrote the same documents: 24 backfills of 120,000 documents in 45 s.
TEST_F(JobRunnerTest, ATableThatIsEmptiedAgainAndAgainHasTwoBackfillsAtMost) {
  world_.add_silently(95);
  Leader leader(world_);
  for (int i = 0; i < 8; ++i) {
    world_.database.commit([](Change& change) { change.truncated(kUserRows); });
    ASSERT_TRUE(leader.tail.turn());
    ASSERT_TRUE(page(leader));
    ASSERT_TRUE(page(leader));
    std::map<JobKind, int> jobs;
    const State state = world_.database.state();
    for (const auto& [id, stored] : state.jobs) ++jobs[stored.job.kind];
    EXPECT_LE(jobs[JobKind::kBackfill], 2);
    EXPECT_LE(jobs[JobKind::kSweep], 2);
  }
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(no_jobs());
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

// A reindex used to swap a generation in of which no document was as the view gives it.
TEST_F(JobRunnerTest, BesideAnotherGenerationAComparisonNotesWhatIsNotKeptAsItWasWritten) {
  world_.make_beside("searched");
  world_.add_silently(25);
  world_.put_post("wanted", "eve", 1);
  world_.put_post("unwanted", "eve", 2);
  world_.elasticsearch.keep_otherwise(R"("user":"ann")", R"({"user":"somebody"})");
  world_.elasticsearch.refuse(R"("n":2)");
  world_.database.add_job(kPosts, JobKind::kComparison);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(no_jobs());
  EXPECT_EQ(leader.dead_letters(kPosts), 26);
  for (const auto& [error, letters] :
       {std::pair("document_not_kept", 25), std::pair("mapper_parsing_exception", 1)}) {
    DeadLetterFilter its;
    its.indices = {kPosts};
    its.error = error;
    EXPECT_EQ(leader.source.dead_letters().count(its), letters) << error;
  }
  EXPECT_EQ(world_.elasticsearch.operations_on("p0007").size(), 1U);
}

TEST_F(JobRunnerTest, WhatIsWrittenAgainBeforeAComparisonLooksAtItIsNotNoted) {
  world_.make_beside("searched");
  world_.add_silently(5);
  world_.elasticsearch.keep_otherwise(R"("user":"ann")", R"({"user":"somebody"})");
  world_.database.add_job(kPosts, JobKind::kComparison);
  Leader leader(world_);
  ASSERT_TRUE(eventually([&] { return page(leader); }));
  world_.elasticsearch.keep_otherwise("", "");
  for (int i = 0; i < 5; ++i) world_.put_post("p000" + std::to_string(i), "ann", 1);
  ASSERT_TRUE(leader.tail.turn() && leader.take_all_outcomes());
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(leader.dead_letters(kPosts), 0);
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(JobRunnerTest, AComparisonOfASearchedIndexWritesWhatDiffersOnce) {
  world_.add_silently(25);
  world_.elasticsearch.keep_otherwise(R"("user":"ann")", R"({"user":"somebody"})");
  world_.database.add_job(kPosts, JobKind::kComparison);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(leader.dead_letters(kPosts), 0);
  EXPECT_EQ(world_.elasticsearch.operations().size(), 25U);
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
