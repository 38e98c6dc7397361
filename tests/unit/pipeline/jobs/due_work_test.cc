#include "replicator/pipeline/jobs/due_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "replicator/error.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

class DueWorkTest : public testing::Test {
 protected:
  void put_posts_of_users(int users, int posts_each) {
    for (int user = 0; user < users; ++user) {
      for (int post = 0; post < posts_each; ++post)
        world_.put_post("u" + std::to_string(user) + "p" + std::to_string(post), "u" + std::to_string(user));
    }
  }

  Values all_posts() const {
    Values ids;
    const State state = world_.database.state();
    for (const auto& [id, row] : state.views.at(kPosts)) ids.push_back(id);
    return ids;
  }
  bool nothing_due() const { return world_.database.state().due.empty(); }

  /// One page, and its outcome.
  static bool page(Leader& leader) {
    const bool worked = leader.jobs.turn();
    EXPECT_TRUE(leader.take_all_outcomes());
    return worked;
  }

  World world_;
};

TEST_F(DueWorkTest, WhatIsDueIsWrittenAndForgotten) {
  world_.config.replication.chunk_documents = 10;
  world_.add_silently(35);
  Values ids = all_posts();
  ids.push_back("gone");
  world_.elasticsearch.damage("posts", "gone", "{}");
  world_.database.add_due(kPosts, ids);
  Leader leader(world_);
  ASSERT_TRUE(page(leader));
  leader.save();
  EXPECT_EQ(world_.database.state().due.at(kPosts).documents(), 36U) << "the page is not over";
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(nothing_due());
}

TEST_F(DueWorkTest, APageThatIsLargerThanABulkIsWrittenInParts) {
  world_.config.elasticsearch.bulk_bytes = 60;
  world_.add_silently(10);
  world_.database.add_due(kPosts, all_posts());
  Leader leader(world_);
  ASSERT_TRUE(page(leader));
  leader.save();
  EXPECT_EQ(world_.database.state().due.at(kPosts).documents(), 10U) << "the page is acknowledged as a whole";
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

// It went on behind the documents that it had taken from its list and not rendered.
TEST_F(DueWorkTest, APageWhoseReadingFailsLosesNoDocument) {
  world_.database.read_pages_beside();
  world_.config.elasticsearch.bulk_bytes = 1'000;  // several renderings a page
  world_.add_silently(60);
  world_.database.add_due(kPosts, all_posts());
  std::atomic<int> renderings = 0;
  world_.database.at_step([&](Step step) {
    if (step != Step::kRender || ++renderings != 2) return;
    throw Error({"reading", "the connection is lost", "", Retry::kLater, Server::kSource});
  });
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  EXPECT_GT(renderings, 2);
  EXPECT_EQ(world_.difference(), "");
}

// Documents that were due 25 times were written 25 times: the backlog took 15 to 43 times as long as one bulk
// of them all.
TEST_F(DueWorkTest, ManyChangesOfTheSameDocumentsCostNoMoreThanTheDocumentsThereAre) {
  constexpr int kUsers = 10;
  constexpr int kPostsEach = 200;
  constexpr int kDemand = 10;
  put_posts_of_users(kUsers, kPostsEach);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  const std::size_t before = world_.elasticsearch.operations().size();
  for (int n = 1; n <= kDemand; ++n) {
    for (int user = 0; user < kUsers; ++user) {
      world_.rename_user("u" + std::to_string(user), n);
      leader.tail.turn();
      if (user % 2 == 0) leader.jobs.turn();
      leader.writer.take_outcomes(std::chrono::milliseconds(0));
    }
  }
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_LE(world_.elasticsearch.operations().size() - before, std::size_t{3 * kUsers * kPostsEach});
}

// Each such page took a transaction and a commit, so that a list of 400 pages that were written already took
// ten seconds.
TEST_F(DueWorkTest, ManyPagesOfDocumentsThatAreWrittenTakeOneReading) {
  constexpr int kPages = 50;
  world_.add_silently(10);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  const AppliedIndex& posts = *world_.pipeline.find(kPosts);
  DocumentIds ids;
  for (const std::string& id : all_posts()) ids.push_back({id});
  for (int n = 0; n < kPages; ++n) {
    const auto transaction = leader.changes.begin(leader.versions.epoch());
    transaction->add_due(posts, ids, {leader.versions.next(), std::nullopt, "a test"});
    leader.jobs.add(transaction->commit());
  }
  std::atomic<int> commits = 0;
  world_.database.at_step([&](Step step) {
    if (step == Step::kSave) ++commits;
  });
  ASSERT_TRUE(leader.catch_up());
  EXPECT_TRUE(nothing_due());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_LE(commits, 10);
}

// Each was a request and a commit of its own.
TEST_F(DueWorkTest, PagesOfFewDocumentsFillARequestTogether) {
  constexpr int kPages = 50;
  world_.add_silently(2 * kPages);
  const Values posts = all_posts();
  for (int page = 0; page < kPages; ++page)
    world_.database.add_due(kPosts, {posts.at(2 * page), posts.at(2 * page + 1), posts.front()});
  Leader leader(world_);
  const std::size_t before = world_.elasticsearch.bulk_requests();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
  EXPECT_TRUE(nothing_due());
  EXPECT_LE(world_.elasticsearch.bulk_requests() - before, 3U);
  EXPECT_EQ(world_.elasticsearch.operations().size(), posts.size()) << "none is written twice";
}

TEST_F(DueWorkTest, ASmallChangeIsWrittenAtOnceWhileManyDocumentsAreDue) {
  put_posts_of_users(1, 300);
  world_.put_post("other", "bob");
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.elasticsearch.hold();
  world_.rename_user("u0", 1);
  ASSERT_TRUE(leader.tail.turn());  // at once: nothing waits
  world_.elasticsearch.await_held(1);
  world_.rename_user("u0", 2);
  ASSERT_TRUE(eventually([&] { return leader.tail.turn(); }));
  EXPECT_TRUE(leader.jobs.is_due(kPosts));
  world_.put_post("other", "bob", 7);
  const std::size_t in_flight = leader.writer.requests_in_flight();
  ASSERT_TRUE(eventually([&] { return leader.tail.turn(); }));
  EXPECT_EQ(leader.writer.requests_in_flight(), in_flight + 1);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_FALSE(leader.jobs.is_due(kPosts));
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(DueWorkTest, WhatBecomesDueWhileItIsBeingWrittenIsWrittenAgain) {
  put_posts_of_users(1, 300);
  Leader leader(world_);
  ASSERT_TRUE(leader.catch_up());
  world_.elasticsearch.hold();
  world_.rename_user("u0", 1);
  ASSERT_TRUE(leader.tail.turn());
  world_.elasticsearch.await_held(1);
  for (int n = 2; n <= 3; ++n) {
    world_.rename_user("u0", n);
    ASSERT_TRUE(eventually([&] { return leader.tail.turn(); }));
    for (int turn = 0; turn < 10; ++turn) leader.jobs.turn();
  }
  world_.elasticsearch.release();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

TEST_F(DueWorkTest, TheNextLeaderWritesWhatIsDue) {
  put_posts_of_users(1, 300);
  {
    Leader leader(world_);
    ASSERT_TRUE(leader.catch_up());
    world_.elasticsearch.hold();
    for (int n = 1; n <= 2; ++n) {
      world_.rename_user("u0", n);
      ASSERT_TRUE(eventually([&] { return leader.tail.turn(); }));
    }
    ASSERT_TRUE(leader.jobs.is_due(kPosts));
    world_.elasticsearch.release();
  }
  Leader next(world_);
  EXPECT_TRUE(next.jobs.is_due(kPosts));
  ASSERT_TRUE(next.catch_up());
  EXPECT_EQ(world_.difference(), "");
}

}  // namespace
}  // namespace lockstep::fake
