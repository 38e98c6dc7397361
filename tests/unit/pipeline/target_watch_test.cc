#include "replicator/pipeline/target_watch.h"

#include <gtest/gtest.h>

#include "replicator/error.h"
#include "replicator/pipeline/leadership.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

class TargetWatchTest : public testing::Test {
 protected:
  std::unique_ptr<TargetWatch> watch(Epoch epoch = {}, std::optional<IndexId> unfit = std::nullopt) {
    ElasticsearchClient client(world_.elasticsearch.transports()());
    std::map<IndexId, std::string> targets;
    for (const AppliedIndex& index : world_.pipeline.indices) {
      targets[index.id] =
          index.id == unfit ? std::string(kUnknownTarget) : marked_index(client, index.alias).uuid;
    }
    return std::make_unique<TargetWatch>(world_.pipeline, epoch, targets, world_.elasticsearch.transports()(),
                                         std::chrono::seconds(1), std::chrono::milliseconds(1));
  }

  template <typename Expected>
  static bool ends_with(TargetWatch& watch) {
    return eventually([&] {
      try {
        watch.require_same_targets();
        return false;
      } catch (const Expected&) {
        return true;
      }
    });
  }

  World world_;
};

TEST_F(TargetWatchTest, AnIndexThatIsReplacedIsNoticed) {
  const auto watching = watch();
  watching->require_same_targets();
  EXPECT_TRUE(watching->is_recent());
  world_.elasticsearch.replace("files");
  EXPECT_TRUE(ends_with<Error>(*watching));
}

TEST_F(TargetWatchTest, AMarkThatWasPutBackIsNoticed) {
  const auto watching = watch();
  watching->require_same_targets();
  ElasticsearchClient client(world_.elasticsearch.transports()());
  IndexMark put_back = marked_index(client, "posts").mark;
  put_back.doubt = "its mark was put back";
  client.put_mapping("posts", {{"_meta", {{"lockstep", mark_json(put_back)}}}});
  EXPECT_TRUE(ends_with<Error>(*watching));
}

TEST_F(TargetWatchTest, ALaterLeaderIsNoticedAndNothingMayBeSentAnyMore) {
  const auto watching = watch(Epoch{4});
  watching->require_same_targets();
  world_.elasticsearch.set_epoch("posts", 5);
  EXPECT_TRUE(ends_with<Deposed>(*watching));
  EXPECT_FALSE(watching->is_recent());
  EXPECT_EQ(watching->place_of_later_leader(), "");
}

TEST_F(TargetWatchTest, WhereALaterLeadersSourceLiesIsKnown) {
  const auto watching = watch(Epoch{4});
  EXPECT_EQ(watching->place_of_later_leader(), std::nullopt);
  ElasticsearchClient client(world_.elasticsearch.transports()());
  set_index_writer(client, "posts", {}, world_.pipeline.identity, Epoch{5}, {"elsewhere", "1", 1});
  EXPECT_TRUE(ends_with<Deposed>(*watching));
  EXPECT_EQ(watching->place_of_later_leader(), "elsewhere");
}

TEST_F(TargetWatchTest, WhatIsNotedNowIsThereAfterwards) {
  const auto watching = watch(Epoch{4});
  const SourceMark source{"here", "1", 78};
  watching->note_now(source, std::chrono::seconds(30));
  ElasticsearchClient client(world_.elasticsearch.transports()());
  for (const AppliedIndex& index : world_.pipeline.indices)
    EXPECT_EQ(marked_index(client, index.alias).mark.source, source);
}

TEST_F(TargetWatchTest, ALeadersEpochThatAnotherProcessWroteOverWithAnOlderMarkIsNotedAgain) {
  const auto watching = watch(Epoch{4});
  const SourceMark source{"here", "1", 78};
  watching->note_now(source, std::chrono::seconds(30));
  ElasticsearchClient client(world_.elasticsearch.transports()());
  set_index_writer(client, "posts", {}, world_.pipeline.identity, Epoch{3}, {"here", "1", 60});
  EXPECT_TRUE(eventually([&] { return marked_index(client, "posts").mark.epoch == Epoch{4}; }));
  EXPECT_EQ(marked_index(client, "posts").mark.source, source);
  EXPECT_NO_THROW(watching->require_same_targets());
}

TEST_F(TargetWatchTest, ASnapshotRestoredOverAnIndexIsNoticed) {
  const auto watching = watch();
  watching->require_same_targets();
  world_.elasticsearch.restore("files");
  EXPECT_TRUE(ends_with<Error>(*watching));
}

TEST_F(TargetWatchTest, AnIndexThatLockstepHasNotMadeIsNoticedAndNothingMayBeSentAnyMore) {
  const auto watching = watch();
  watching->require_same_targets();
  world_.elasticsearch.forget_mark("files");
  EXPECT_TRUE(ends_with<Error>(*watching));
  EXPECT_FALSE(watching->is_recent());
  EXPECT_EQ(watching->lost(), std::set<IndexId>{kFiles});
}

// Reported: an index was deleted while nothing changed, and `status` showed "following".
TEST_F(TargetWatchTest, AnIndexThatIsGoneIsNoticedAlthoughNothingIsWritten) {
  const auto watching = watch();
  watching->require_same_targets();
  world_.elasticsearch.remove("files");
  EXPECT_TRUE(ends_with<Error>(*watching));
  EXPECT_EQ(watching->lost(), std::set<IndexId>{kFiles});
}

// Reported: `status` advised `lockstep reindex --back` for a deleted index and `lockstep apply`, which
// refuses that, and called the index by the alias that the leader writes by.
TEST_F(TargetWatchTest, ALostGenerationIsNamedWithTheRemedyOfItsReindex) {
  AppliedIndex live = world_.posts();
  live.written_by = "posts-000002-w1";
  const SoughtIndex sought = sought_index(live);
  EXPECT_EQ(sought.name, "posts-000002");
  EXPECT_EQ(sought.if_gone, remedy_of_lost_generation("posts"));
  ElasticsearchClient client(world_.elasticsearch.transports()());
  try {
    (void)marked_index(client, live.target(), sought);
    FAIL() << "there is no such index";
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("lockstep reindex --back posts"), std::string::npos) << what;
    EXPECT_EQ(what.find("lockstep apply"), std::string::npos) << what;
    EXPECT_EQ(what.find("-w1"), std::string::npos) << what;
  }
}

TEST_F(TargetWatchTest, AnIndexThatCarriesAnotherPipelinesMarkIsNoticed) {
  const auto watching = watch();
  watching->require_same_targets();
  world_.elasticsearch.create("files", "another-identity");
  EXPECT_TRUE(ends_with<Error>(*watching));
  EXPECT_EQ(watching->lost(), std::set<IndexId>{kFiles});
}

TEST_F(TargetWatchTest, AnIndexThatIsUnfitFromTheBeginningHoldsNoOtherUpAndEndsTheLeadOnceItIsFit) {
  world_.elasticsearch.forget_mark("files");
  const auto watching = watch(Epoch{4}, kFiles);
  const SourceMark source{"here", "1", 79};
  watching->note_now(source, std::chrono::seconds(30));
  ElasticsearchClient client(world_.elasticsearch.transports()());
  EXPECT_EQ(marked_index(client, "posts").mark.source, source);
  EXPECT_TRUE(eventually([&] { return watching->unfit().contains(kFiles); }));
  EXPECT_NO_THROW(watching->require_same_targets());
  EXPECT_TRUE(watching->is_recent());
  EXPECT_TRUE(watching->lost().empty());
  world_.elasticsearch.create("files", world_.pipeline.identity);
  EXPECT_TRUE(ends_with<PipelineChanged>(*watching));
}

TEST_F(TargetWatchTest, ASourcesProgressIsNotedInEachIndex) {
  const auto watching = watch(Epoch{4});
  const SourceMark source{"here", "1", 77};
  watching->note(source);
  ElasticsearchClient client(world_.elasticsearch.transports()());
  for (const AppliedIndex& index : world_.pipeline.indices) {
    EXPECT_TRUE(eventually([&] { return marked_index(client, index.alias).mark.source == source; }));
    EXPECT_EQ(marked_index(client, index.alias).mark.epoch, Epoch{4});
  }
}

}  // namespace
}  // namespace lockstep::fake
