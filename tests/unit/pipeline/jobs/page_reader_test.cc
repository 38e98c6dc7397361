#include "replicator/pipeline/jobs/page_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <random>
#include <thread>

#include "tests/support/random_seed.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

/// Jobs whose pages are read beside the tail, and a page that stops between its snapshot and its rendering.
class PageReaderTest : public testing::Test {
 protected:
  PageReaderTest() {
    world_.config.replication.chunk_documents = 10;
    world_.database.read_pages_beside();
  }

  /// Begins to read the first page of the only job, and returns when it has its snapshot.
  void stop_in_page(Leader& leader) {
    world_.database.at_step([this](Step step) {
      if (step != Step::kRender || std::this_thread::get_id() == tail_) return;
      in_page_.count_down();
      go_on_.wait();
    });
    ASSERT_TRUE(leader.jobs.turn());
    in_page_.wait();
    world_.database.at_step({});
  }
  void go_on() { go_on_.count_down(); }

  /// Elasticsearch does not answer the request of the first page.
  void hold_first_page(Leader& leader) {
    world_.elasticsearch.hold();
    ASSERT_TRUE(eventually([&] {
      leader.jobs.turn();
      return leader.writer.requests_in_flight() == 1;
    }));
  }

  /// One change of the tail, until Elasticsearch has it.
  static void follow(Leader& leader) {
    ASSERT_TRUE(leader.tail.turn());
    ASSERT_TRUE(leader.take_all_outcomes());
  }

  World world_;
  const std::thread::id tail_ = std::this_thread::get_id();
  std::latch in_page_{1};
  std::latch go_on_{1};
};

TEST_F(PageReaderTest, ABackfillGoesThroughTheWholeView) {
  world_.add_silently(95);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 10U);
  EXPECT_TRUE(world_.database.state().jobs.empty());
}

TEST_F(PageReaderTest, ALimitedBackfillReadsSmallPages) {
  world_.add_silently(6);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  const SteadyTime begun = std::chrono::steady_clock::now();
  leader.jobs.limit_rates({{kPosts, 20}}, begun);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 3U);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(300));
}

TEST_F(PageReaderTest, TheTailGoesOnWhileAPageIsRead) {
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  stop_in_page(leader);
  world_.put_post("small", "bob");
  world_.put_post("p0003", "bob", 7);
  follow(leader);
  EXPECT_EQ(world_.elasticsearch.operations().size(), 2U);
  EXPECT_FALSE(leader.jobs.all_done());
  EXPECT_EQ(leader.jobs.progress().size(), 1U);
  go_on();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

// The leader gave the lead away, again and again.
TEST_F(PageReaderTest, JobsWaitForTheSecondConnectionAndTheTailDoesNot) {
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  world_.database.give_side_connections(false);
  Leader leader(world_);
  const auto trouble = [&] { return leader.jobs.progress().front().second.trouble; };
  ASSERT_TRUE(eventually([&] {
    leader.jobs.turn();
    return !trouble().empty();
  }));
  EXPECT_NE(trouble().find("too many connections"), std::string::npos) << trouble();
  world_.put_post("small", "bob");
  follow(leader);
  EXPECT_EQ(world_.elasticsearch.operations().size(), 1U);
  world_.database.give_side_connections(true);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(PageReaderTest, WhatIsDueWaitsForTheConnectionThatFindsItAndTheTailDoesNot) {
  world_.config.replication.fan_out_threshold = 20;
  for (int i = 0; i < 30; ++i) world_.put_post(std::to_string(i), "ann");
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.database.give_side_connections(false);
  world_.rename_user("ann", 1);
  follow(leader);
  ASSERT_TRUE(leader.jobs.is_due(kPosts));
  EXPECT_TRUE(eventually([&] {
    leader.jobs.turn();
    return leader.jobs.trouble(kPosts).find("too many connections") != std::string::npos;
  }));
  world_.put_post("small", "bob");
  follow(leader);
  EXPECT_EQ(world_.elasticsearch.operations_on("small").size(), 1U);
  world_.database.give_side_connections(true);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

// The end of its scan asks Elasticsearch, after the thread that reads pages has ended.
TEST_F(PageReaderTest, ALeaderThatEndsInTheMiddleOfASweepEndsItsScan) {
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  ASSERT_TRUE(Leader(world_).catch_up());
  world_.database.add_job(kPosts, JobKind::kSweep);
  std::atomic<int> scans_ended = 0;
  world_.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.method == "DELETE") ++scans_ended;
    return std::nullopt;
  });
  {
    Leader leader(world_);
    ASSERT_TRUE(eventually([&] {
      leader.jobs.turn();
      leader.take_all_outcomes();
      return leader.jobs.progress().front().second.done > 0 && !leader.jobs.has_page_in_hand();
    }));
    ASSERT_EQ(scans_ended, 0) << "it was over too soon to tell";
  }
  EXPECT_EQ(scans_ended, 1);
}

// The page has the older state under the lesser version, and no version is left to compare with (W6).
TEST_F(PageReaderTest, ADocumentThatIsDeletedWhileItsPageIsReadDoesNotComeBack) {
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  stop_in_page(leader);
  world_.remove_post("p0003");
  follow(leader);
  world_.elasticsearch.forget_deletes();
  go_on();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_EQ(world_.elasticsearch.operations_on("p0003").size(), 1U);
}

TEST_F(PageReaderTest, ADocumentThatIsDeletedWhileItsPageWaitsForRoomDoesNotComeBack) {
  world_.config.elasticsearch.bulks_in_flight = 2;
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  hold_first_page(leader);
  while (leader.jobs.turn()) {
  }  // the second page is in hand: the jobs have one request
  world_.remove_post("p0013");
  ASSERT_TRUE(leader.tail.turn());
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.take_all_outcomes());
  world_.elasticsearch.forget_deletes();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

// `wait` ended, since the page was over, while Elasticsearch still had a state from before it (U1).
TEST_F(PageReaderTest, ADocumentThatIsDeletedWhileItsPageIsReadStaysDueUntilItIsGone) {
  world_.add_silently(1);
  world_.database.add_due(kPosts, {"p0000"});
  const auto pages = [&] { return world_.database.state().due[kPosts].pages; };
  const DueNumber number = pages().begin()->first;
  Leader leader(world_);
  stop_in_page(leader);
  world_.remove_post("p0000");
  world_.elasticsearch.hold();
  ASSERT_TRUE(leader.tail.turn());
  go_on();
  ASSERT_TRUE(eventually([&] {
    leader.jobs.turn();
    return !leader.jobs.has_page_in_hand();
  }));
  leader.save();
  ASSERT_EQ(pages().size(), 1U);
  EXPECT_EQ(pages().begin()->second.page.since, number);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(PageReaderTest, WhatAPageSawIsDurableBeforeElasticsearchIsShownIt) {  // S4
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  stop_in_page(leader);
  world_.add_silently(31);
  ASSERT_FALSE(world_.database.is_durable());
  bool was_durable = true;
  world_.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.path.find("_bulk") != std::string::npos)
      was_durable = was_durable && world_.database.is_durable();
    return std::nullopt;
  });
  go_on();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(was_durable);
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(PageReaderTest, APageOfADeposedLeaderIsNotWritten) {  // S5
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader deposed(world_);
  ASSERT_TRUE(deposed.jobs.turn());  // reads a page, whose job is begun
  ASSERT_TRUE(eventually([&] { return deposed.jobs.turn(); }));
  Leader leader(world_);
  EXPECT_THROW((void)eventually([&] {
                 deposed.jobs.turn();
                 deposed.take_all_outcomes();
                 return false;
               }),
               Deposed);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(PageReaderTest, AViewThatFailsStopsItsIndexAndNoOther) {
  world_.add_silently(30);
  world_.put_file("f", "a", 1);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  world_.database.set_readable(kPosts, false);
  Leader leader(world_);
  EXPECT_THROW((void)eventually([&] { return !leader.jobs.turn() && leader.jobs.all_done(); }), ViewError);
  leader.jobs.forget(kPosts);
  world_.database.set_readable(kPosts, true);
  for (Job& job : leader.source.changes().jobs().readable) leader.jobs.add(std::move(job));
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(PageReaderTest, APageWhoseJobIsForgottenMeanwhileIsReadAgain) {
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  stop_in_page(leader);
  leader.jobs.forget(kPosts);
  EXPECT_TRUE(leader.jobs.progress().empty());
  for (Job& job : leader.source.changes().jobs().readable) leader.jobs.add(std::move(job));
  go_on();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

// It was kept, and with it what the tail deletes, until the tail had to wait for it.
TEST_F(PageReaderTest, APageInHandGoesWithItsJob) {
  world_.config.elasticsearch.bulks_in_flight = 2;
  world_.add_silently(30);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  Leader leader(world_);
  hold_first_page(leader);
  EXPECT_TRUE(eventually([&] { return leader.jobs.turn(); }));  // the second page is being read
  EXPECT_TRUE(eventually([&] { return leader.jobs.turn(); }));  // and in hand: the jobs have one request
  leader.jobs.forget(kPosts);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.take_all_outcomes());
  leader.jobs.turn();
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_EQ(world_.elasticsearch.operations().size(), 10U);
  for (Job& job : leader.source.changes().jobs().readable) leader.jobs.add(std::move(job));
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(PageReaderTest, PagesOfARoutedIndexAreReadByTheLeaderItself) {
  for (int i = 0; i < 15; ++i) world_.put_file(std::to_string(i), "a", i);
  world_.database.add_job(kFiles, JobKind::kBackfill);
  Leader leader(world_);
  bool all_by_leader = true;
  world_.database.at_step(
      [&](Step) { all_by_leader = all_by_leader && std::this_thread::get_id() == tail_; });
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(all_by_leader);
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(PageReaderTest, EqualAtRestWhateverChangesWhilePagesAreRead) {
  std::mt19937_64 random(support::random_seed());
  world_.add_silently(60);
  world_.database.add_job(kPosts, JobKind::kBackfill);
  world_.database.add_job(kPosts, JobKind::kSweep);
  world_.config.replication.fan_out_threshold = 20;
  Leader leader(world_);
  for (int i = 0; i < 400; ++i) {
    const std::string id = "p00" + std::to_string(10 + random() % 50);
    switch (random() % 8) {
      case 0:
        world_.remove_post(id);
        break;
      case 1:
        world_.rename_user(random() % 2 == 0 ? "ann" : "bob", i);  // a fan-out
        break;
      case 2:
        world_.elasticsearch.forget_deletes();  // also while a page is read
        break;
      case 3:
        world_.put_post(id, random() % 2 == 0 ? "ann" : "bob", i);
        break;
      default:
        leader.writer.take_outcomes(std::chrono::milliseconds(0));
        leader.tail.turn();
        leader.jobs.turn();
    }
  }
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(world_.elasticsearch.overlaps().empty());  // W1
}

}  // namespace
}  // namespace lockstep::fake
