#include "replicator/pipeline/reindexing.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/pipeline/world.h"

namespace lockstep {
namespace {

std::optional<DueList> due_since(std::int64_t number) {
  return DueList{.index = IndexId{1}, .documents = 1, .oldest = DueNumber{number}};
}

// The alias moved while both generations had something due, and searchers missed a change that a wait had
// waited for: the old generation had it already.
TEST(Reindexing, AGenerationIsBehindWhileItLacksWhatTheLiveOneHas) {
  EXPECT_TRUE(is_behind(due_since(7), due_since(8))) << "the live one has what was due since 7";
  EXPECT_TRUE(is_behind(due_since(7), std::nullopt));
  EXPECT_FALSE(is_behind(due_since(9), due_since(8))) << "the same change, of both";
  EXPECT_FALSE(is_behind(std::nullopt, due_since(8)));
  EXPECT_FALSE(is_behind(std::nullopt, std::nullopt));
}

/// A reindex of the posts.
class ReindexingTest : public testing::Test {
 protected:
  ReindexingTest() {
    world_.put_post("1", "ann");
    leader_.emplace(world_);
    EXPECT_TRUE(leader_->source.reindexes().start({"posts", "{}", std::chrono::hours(1)}));
  }

  /// Leads until the reindex is in this state. False when that takes too long.
  bool bring_to(ReindexState state) {
    return fake::eventually([&] {
      if (known().state == state) return true;
      leader_->turn();
      turn();
      return known().state == state;
    });
  }
  /// Without what else a leader does.
  void turn() {
    if (!leader_->reindexing.turn()) return;
    leader_.reset();
    leader_.emplace(world_);
  }
  /// Whether it stays in its state, as far as some turns and answers of Elasticsearch tell.
  bool stays() {
    const ReindexState state = known().state;
    for (int answers = 0; answers < 3; ++answers) {
      turn();
      if (!fake::eventually([&] { return turn(), !leader_->reindexing.awaits_answer(); })) return false;
    }
    return known().state == state;
  }
  Reindex known() { return leader_->source.reindexes().all().at(0); }

  fake::World world_;
  std::optional<fake::Leader> leader_;
};

TEST_F(ReindexingTest, TheAliasMovesToAGenerationThatHasEverything) {
  ASSERT_TRUE(bring_to(ReindexState::kKept));
  EXPECT_EQ(world_.elasticsearch.index_of("posts"), "posts-000002");
  world_.put_post("2", "bob");
  ASSERT_TRUE(leader_->catch_up());
  EXPECT_EQ(world_.difference(), "");
  ASSERT_TRUE(leader_->source.reindexes().want(known().id, ReindexWish::kFinish, Reindexes::Force::kNo));
  EXPECT_TRUE(fake::eventually([&] { return turn(), leader_->source.reindexes().all().empty(); }));
  EXPECT_EQ(world_.elasticsearch.indices(), (std::vector<std::string>{"files-000001", "posts-000002"}));
}

// Where the new index had stopped to take writes when the alias was about to move, waits waited for it, and
// `reindex --abort` did, too.
TEST_F(ReindexingTest, AReindexWhoseAliasIsAboutToMoveIsTakenBackWhileTheNewIndexTakesNothing) {
  ASSERT_TRUE(bring_to(ReindexState::kSwapping));
  world_.database.add_due(*known().beside, {"1"});
  EXPECT_TRUE(stays());
  ASSERT_TRUE(leader_->source.reindexes().want(known().id, ReindexWish::kAbort, Reindexes::Force::kNo));
  EXPECT_TRUE(bring_to(ReindexState::kDropping));
  EXPECT_EQ(world_.elasticsearch.index_of("posts"), "posts-000001");
}

// A leader that had found the new index to be another one than before compared it, and let the alias move
// there at once.
TEST_F(ReindexingTest, TheAliasDoesNotMoveToAnIndexThatIsComparedAgain) {
  ASSERT_TRUE(bring_to(ReindexState::kSwapping));
  world_.database.add_job(*known().beside, JobKind::kComparison);
  EXPECT_TRUE(stays());
  EXPECT_EQ(world_.elasticsearch.index_of("posts"), "posts-000001");
}

TEST_F(ReindexingTest, TheAliasDoesNotMoveToAnIndexWhoseViewCannotBeRead) {
  ASSERT_TRUE(bring_to(ReindexState::kSwapping));
  leader_->standing.pause(*known().beside, "a test");
  EXPECT_TRUE(stays());
  EXPECT_EQ(world_.elasticsearch.index_of("posts"), "posts-000001");
}

// Reported: after `reindex --back` from a deleted index, metrics kept its series until a restart, and had
// those of the next index of its name twice.
TEST_F(ReindexingTest, TheProgressOfAGenerationEndsWithItsReindex) {
  ASSERT_TRUE(bring_to(ReindexState::kKept));
  ProgressBoard board;
  const auto shown = [&] {
    const ProgressReport report({leader_->pipeline, leader_->source, leader_->bulks, leader_->writer,
                                 leader_->standing, leader_->jobs, leader_->tail},
                                leader_->versions.epoch(), board);
    std::set<std::string> aliases;
    for (const auto& [id, index] : board.read().indices) aliases.insert(index.alias);
    return aliases;
  };
  board.update([&](ReplicationProgress& progress) {
    for (const AppliedIndex& index : leader_->pipeline.indices)
      progress.indices[index.id].alias = index.alias;
  });
  EXPECT_EQ(shown().size(), 3u);
  ASSERT_TRUE(leader_->source.reindexes().want(known().id, ReindexWish::kFinish, Reindexes::Force::kNo));
  ASSERT_TRUE(fake::eventually([&] { return turn(), leader_->source.reindexes().all().empty(); }));
  EXPECT_EQ(shown(), (std::set<std::string>{"files", "posts"}));
}

// Reported: `reindex --finish` of an index that was deleted by hand failed, with "nothing has changed".
TEST_F(ReindexingTest, AnIndexThatIsDeletedByHandIsNoFailureOfTheOrderToDeleteIt) {
  ASSERT_TRUE(bring_to(ReindexState::kKept));
  ASSERT_TRUE(leader_->source.reindexes().want(known().id, ReindexWish::kFinish, Reindexes::Force::kNo));
  world_.elasticsearch.remove("posts-000001");
  EXPECT_TRUE(fake::eventually([&] { return turn(), leader_->source.reindexes().all().empty(); }));
}

}  // namespace
}  // namespace lockstep
