// Stops and kills in the middle: what was not acknowledged is done again by the next leader, what was is not
// forgotten, and a leader that was deposed changes nothing any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>
#include <string>
#include <thread>

#include "replicator/error.h"
#include "replicator/pipeline/leadership.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

/// What a kill -9, or a server that goes away, looks like from inside.
struct Killed {};

class RecoveryTest : public testing::Test {
 protected:
  /// A world with work for the tail and all kinds of jobs.
  static void fill(World& world) {
    world.config.replication.chunk_documents = 5;
    world.config.replication.fan_out_threshold = 12;
    world.config.elasticsearch.bulk_bytes = 300;
    world.add_silently(15);
    world.database.add_job(kPosts, JobKind::kBackfill);
    world.database.add_job(kFiles, JobKind::kSweep);
    world.elasticsearch.damage("files", "surplus", "{}");
    for (int i = 0; i < 12; ++i) world.put_post("new" + std::to_string(i), "bob", i);
    world.rename_user("ann", 1);
    for (int i = 0; i < 8; ++i) world.put_file("f" + std::to_string(i), i % 2 == 0 ? "a" : "b", i);
    for (int i = 0; i < 8; i += 3) world.put_file("f" + std::to_string(i), "c", i);
    world.remove_file("f1");
    world.remove_post("new3");
  }

  static void catch_up_with_a_fresh_leader(World& world) {
    Leader leader(world);
    ASSERT_TRUE(leader.catch_up());
    EXPECT_EQ(world.difference(), "");
    EXPECT_TRUE(world.database.state().jobs.empty());
    EXPECT_EQ(world.database.state().position, world.database.state().outbox.size());
    EXPECT_TRUE(world.elasticsearch.overlaps().empty());
  }
};

TEST_F(RecoveryTest, WhoTakesTheLeadWaitsForAnAnswerAsLongAsIsConfigured) {
  World world;
  world.config.elasticsearch.request_timeout = std::chrono::seconds(7);
  std::set<std::chrono::milliseconds> timeouts;
  world.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    timeouts.insert(request.timeout);
    return std::nullopt;
  });
  Leader leader(world);
  world.elasticsearch.intercept({});
  EXPECT_THAT(timeouts, testing::ElementsAre(std::chrono::seconds(7)));
}

TEST_F(RecoveryTest, KilledAtAnyStepOfAnyTransactionTheNextLeaderMakesItEqual) {
  for (int kill_at = 1;; ++kill_at) {
    SCOPED_TRACE("killed at step " + std::to_string(kill_at));
    World world;
    world.database.set_durable(kill_at % 2 == 0);
    fill(world);
    int steps = 0;
    world.database.at_step([&](Step) {
      if (++steps == kill_at) throw Killed();
    });
    bool killed = false;
    try {
      Leader leader(world);
      ASSERT_TRUE(leader.catch_up());
    } catch (const Killed&) {
      killed = true;
    }
    world.database.at_step({});
    catch_up_with_a_fresh_leader(world);
    if (!killed || HasFailure()) break;
  }
}

TEST_F(RecoveryTest, KilledWithBulksOnTheWayTheNextLeaderMakesItEqual) {
  for (int turns = 1; turns < 30; ++turns) {
    SCOPED_TRACE("killed after " + std::to_string(turns) + " turns");
    World world;
    world.database.set_durable(turns % 2 == 0);
    fill(world);
    {
      Leader leader(world);
      world.elasticsearch.hold();
      for (int i = 0; i < turns; ++i) {
        leader.writer.take_outcomes(std::chrono::milliseconds(0));
        leader.tail.turn();
        leader.jobs.turn();
        if (i % 3 == 2) {
          world.elasticsearch.release();
          leader.take_all_outcomes();
          world.elasticsearch.hold();
        }
      }
    }
    world.elasticsearch.release();
    catch_up_with_a_fresh_leader(world);
    if (HasFailure()) break;
  }
}

TEST_F(RecoveryTest, TheSavedPositionIsNeverPastWhatElasticsearchHas) {
  World world;
  fill(world);
  std::size_t checked = 0;
  Leader leader(world);
  // Every row before the position has documents that are not older than the row, or they are due.
  world.database.at_step([&](Step step) {
    if (step != Step::kCommitted) return;
    ++checked;
    const State state = world.database.state();
    std::set<std::string> waiting;
    for (const auto& [index, due] : state.due) {
      for (const auto& [number, stored] : due.pages) {
        for (const DocumentId& id : stored.page.ids) waiting.insert(id.text);
      }
      for (const DueChanges& each : due.changes) {
        for (const CapturedChange& change : each.changes)
          waiting.insert(change.values.begin(), change.values.end());  // not found yet
      }
    }
    for (std::size_t row = 0; row < state.position; ++row) {
      if (state.outbox[row].capture != kPostRows) continue;
      for (const std::string& id : state.outbox[row].values)
        EXPECT_TRUE(waiting.contains(id) || !world.elasticsearch.operations_on(id).empty()) << id;
    }
  });
  ASSERT_TRUE(leader.catch_up());
  EXPECT_GT(checked, 5U);
}

TEST_F(RecoveryTest, ACommitOfWhichNobodyKnowsWhetherItHappenedHarmsNothing) {
  World world;
  fill(world);
  try {
    Leader leader(world);
    world.database.at_step([&](Step step) {
      if (step == Step::kCommitted) throw Killed();
    });
    leader.catch_up();
    FAIL() << "nothing was committed";
  } catch (const Killed&) {
  }
  world.database.at_step({});
  catch_up_with_a_fresh_leader(world);
}

TEST_F(RecoveryTest, AStopInTheMiddleLeavesTheRestToTheNextLeader) {
  World world;
  fill(world);
  {
    Leader leader(world);
    world.elasticsearch.hold();
    for (int i = 0; i < 4; ++i) leader.tail.turn();
    world.elasticsearch.release();
    leader.bulks.stop(std::chrono::seconds(5));
    leader.writer.take_outcomes(std::chrono::milliseconds(0));
    leader.save();
  }
  EXPECT_LT(world.database.state().position, world.database.state().outbox.size());
  catch_up_with_a_fresh_leader(world);
}

TEST_F(RecoveryTest, AStopDoesNotPassWhatWasReadAndNotHandedOver) {  // K3
  World world;
  world.config.elasticsearch.bulk_bytes = 1'000;
  world.add_silently(60);
  world.rename_user("ann", 1);
  {
    Leader leader(world);
    ASSERT_TRUE(leader.turn());
    ASSERT_TRUE(leader.take_all_outcomes());
    ASSERT_FALSE(leader.tail.idle());
    std::stop_source stopped;
    stopped.request_stop();
    leader.run(RunUntil::kStopped, stopped.get_token());
  }
  catch_up_with_a_fresh_leader(world);
}

TEST_F(RecoveryTest, AnIdleSaveDoesNotPassAnOpenStep) {
  World world;
  world.put_post("1", "ann");
  Leader leader(world);
  world.elasticsearch.hold();
  ASSERT_TRUE(leader.tail.turn());
  world.elasticsearch.await_held(1);
  leader.save();
  EXPECT_EQ(world.database.state().position, 0U);
  world.elasticsearch.release();
  ASSERT_TRUE(leader.take_all_outcomes());
  leader.save();
  EXPECT_EQ(world.database.state().position, 1U);
}

TEST_F(RecoveryTest, ADeposedLeaderCanSaveNothing) {
  World world;
  world.put_post("1", "ann");
  Leader zombie(world);
  Leader next(world);
  EXPECT_THROW(zombie.tail.turn(), Deposed);
  EXPECT_THROW(zombie.save(), Deposed);
  EXPECT_EQ(world.elasticsearch.bulk_requests(), 0U) << "it has shown Elasticsearch nothing";
  ASSERT_TRUE(next.catch_up());
  EXPECT_EQ(world.difference(), "");
}

TEST_F(RecoveryTest, WhatADeposedLeaderStillHasOnTheWayIsTooOldToLand) {
  World world;
  world.put_post("1", "ann", 1);
  Leader zombie(world);
  // The zombie's request stays where it is; those of the next leader pass.
  std::atomic<bool> zombie_waits = true;
  const std::string old_state = R"("n":1})";
  world.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.body.find(old_state) == std::string_view::npos) return std::nullopt;
    eventually([&] { return !zombie_waits; });
    return std::nullopt;
  });
  ASSERT_TRUE(zombie.tail.turn());
  world.put_post("1", "ann", 2);
  Leader next(world);
  ASSERT_TRUE(next.catch_up());
  EXPECT_EQ(world.difference(), "");
  zombie_waits = false;
  ASSERT_TRUE(zombie.take_all_outcomes());
  EXPECT_EQ(world.difference(), "");
  EXPECT_EQ(world.elasticsearch.operations_on("1").back().status, 409);
}

// `dead-letters retry` took the lead, and kept it as long as anybody wrote: the service could not begin.
TEST_F(RecoveryTest, WhoCatchesUpEndsAlthoughOthersWrite) {
  World world;
  world.add_silently(30);
  world.database.add_job(kPosts, JobKind::kBackfill);
  world.database.add_due(kPosts, {"p0003"});
  Leader leader(world);
  const std::jthread writer([&](const std::stop_token& stop) {
    for (int n = 0; !stop.stop_requested(); ++n) {
      world.put_post("p0007", "ann", n);
      if (n % 10 == 0) world.database.add_due(kPosts, {"p0004"});
    }
  });
  std::stop_source too_late;
  auto ended = std::async(std::launch::async, [&] { leader.run(RunUntil::kCaughtUp, too_late.get_token()); });
  EXPECT_EQ(ended.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  too_late.request_stop();
  ended.get();
  EXPECT_TRUE(world.database.state().jobs.empty());
  EXPECT_EQ(world.elasticsearch.documents("posts").size(), 30U);
}

// A proxy held a request of 75 s, a deletion was forgotten after 60: the document was back for ever (W8).
TEST_F(RecoveryTest, ADocumentThatALateWriteOfADeadLeaderBringsBackGoesAgain) {
  World world;
  world.put_post("1", "ann");
  const SteadyTime land = steady_now() + std::chrono::seconds(2);
  Leader leader(world, land);
  ASSERT_TRUE(leader.catch_up());
  world.remove_post("1");
  ASSERT_TRUE(leader.catch_up()) << "nobody waits for the repetition";
  world.elasticsearch.forget_deletes();
  world.elasticsearch.damage("posts", "1", R"({"user":"ann","n":0})");
  ASSERT_TRUE(eventually([&] { return leader.catch_up() && world.difference().empty(); }));
  EXPECT_GE(steady_now(), land);
  EXPECT_TRUE(world.database.state().due.empty());
}

TEST_F(RecoveryTest, ADocumentOfATruncatedTableThatADeadLeaderHadOnItsWayIsDeletedTwice) {  // W8
  World world;
  world.put_post("1", "ann");
  world.database.commit([&](Change& change) {
    change.remove(kPosts, "1");
    change.truncated(kPostRows);
  });
  Leader leader(world, steady_now() + kLandsWithin);
  const auto pages = [&] { return world.database.state().due[kPosts].pages; };
  ASSERT_TRUE(eventually([&] {
    leader.turn();
    return !pages().empty();
  }));
  EXPECT_EQ(pages().begin()->second.page.ids, DocumentIds{{"1"}});
}

TEST_F(RecoveryTest, ADocumentIsDeletedTwiceWhenAWriteOfItWasNotAnswered) {  // W8
  World world;
  std::optional<QuietEnd> last_end;
  LeaderOfWorld process(world);
  lockstep::Leader leader(
      {world.config, process.source, process.transports, process.board, world.clock, &last_end});
  const auto follow = [&] {
    return eventually([&] {
      leader.turn();
      return leader.at_rest();
    });
  };
  for (const char* id : {"answered", "not answered"}) {
    if (std::string(id) == "not answered") world.elasticsearch.lose_next_reply();
    world.put_post(id, "ann");
    ASSERT_TRUE(follow());
    world.remove_post(id);
    ASSERT_TRUE(follow());
  }
  const auto pages = world.database.state().due[kPosts].pages;
  ASSERT_EQ(pages.size(), 1U);
  const StoredPage& repeated = pages.begin()->second;
  EXPECT_EQ(repeated.page.ids, DocumentIds{{"not answered"}});
  EXPECT_GT(repeated.not_before, steady_now() + kLandsWithin / 2);
  world.elasticsearch.lose_next_reply();
  world.put_file("f1", "here");
  ASSERT_TRUE(follow());
  world.remove_file("f1");
  ASSERT_TRUE(follow());
  EXPECT_THAT(world.database.state().routes, testing::SizeIs(1)) << "the repetition needs its routing";
  std::stop_source stopped;
  stopped.request_stop();
  leader.run(RunUntil::kStopped, stopped.get_token());
  EXPECT_GT(last_end.value().late_writes_land, steady_now() + kLandsWithin / 2);
  EXPECT_FALSE(process.source.lead().known_partners().landed) << "the next leader repeats deletions, too";
}

// Else the next leader repeats no deletion of a document that a late write brings back.
TEST_F(RecoveryTest, AQuietEndIsNoProofThatTheLateWritesOfEarlierLeadersHaveLanded) {  // W8
  World world;
  Leader leader(world, steady_now() + kLandsWithin / 2);
  std::stop_source stopped;
  stopped.request_stop();
  leader.run(RunUntil::kStopped, stopped.get_token());
  EXPECT_TRUE(leader.source.lead().known_partners().quiet);
  EXPECT_FALSE(leader.source.lead().known_partners().landed);
}

// What the last leader has noted on both sides, and what is different when the next one comes.
// A SIGHUP or an `apply` soon after a leader's death let a sweep wait another 90 s.
TEST_F(RecoveryTest, AReloadSoonAfterALeadersDeathDoesNotBeginTheTimeOfItsLastWritesAgain) {
  World world;
  { const Leader dead(world); }
  std::optional<QuietEnd> last_end;
  const auto lead = [&](const std::function<void(lockstep::Leader&)>& work) {
    LeaderOfWorld process(world);
    lockstep::Leader leader(
        {world.config, process.source, process.transports, process.board, world.clock, &last_end});
    work(leader);
    return leader.earlier.land;
  };
  const auto stop = [](lockstep::Leader& leader) {
    std::stop_source stopped;
    stopped.request_stop();
    leader.run(RunUntil::kStopped, stopped.get_token());
  };
  const SteadyTime over = lead(stop);
  EXPECT_GT(over, std::chrono::steady_clock::now());
  EXPECT_EQ(lead(stop), over);
  EXPECT_EQ(lead([](lockstep::Leader&) {}), over) << "it has not ended quietly";
  const SteadyTime later = lead(stop);
  EXPECT_GT(later, over);
  { const Leader another_process(world); }
  EXPECT_GT(lead(stop), later);
}

class PartnersTest : public RecoveryTest {
 protected:
  PartnersTest() {
    world_.add_silently(5);
    for (const AppliedIndex* index : {&world_.posts(), &world_.files()}) {
      world_.database.add_job(index->id, JobKind::kBackfill);
    }
    catch_up_with_a_fresh_leader(world_);
    take_lead();
    EXPECT_TRUE(kinds().empty()) << "nothing is in doubt";
    world_.elasticsearch.damage("posts", "p0003", "{}");
    world_.elasticsearch.damage("posts", "of a lost future", "{}");
  }

  TakenLead take_lead() {
    FakeSource source(world_.database);
    EXPECT_TRUE(source.lead().try_lead());
    ElasticsearchClient client(world_.elasticsearch.transports()());
    return take_epoch(world_.pipeline, source, client);
  }

  std::multiset<std::pair<IndexId, JobKind>> kinds() const {
    std::multiset<std::pair<IndexId, JobKind>> kinds;
    for (const auto& [id, job] : world_.database.state().jobs) kinds.emplace(job.job.index, job.job.kind);
    return kinds;
  }

  const std::multiset<std::pair<IndexId, JobKind>> everything_{{kPosts, JobKind::kComparison},
                                                               {kPosts, JobKind::kSweep},
                                                               {kFiles, JobKind::kComparison},
                                                               {kFiles, JobKind::kSweep}};
  World world_;
};

TEST_F(PartnersTest, APromotedSourceIsCompared) {
  world_.database.set_identity({"fake", "2", 100});
  take_lead();
  EXPECT_EQ(kinds(), everything_);
  const std::size_t before = world_.elasticsearch.operations().size();
  catch_up_with_a_fresh_leader(world_);
  EXPECT_EQ(world_.elasticsearch.operations().size() - before, 2U) << "only what differs is written";
}

TEST_F(PartnersTest, ASourceThatHasGoneBackIsCompared) {
  world_.database.set_identity({"fake", "1", 99});
  take_lead();
  EXPECT_EQ(kinds(), everything_);
  catch_up_with_a_fresh_leader(world_);
}

TEST_F(PartnersTest, ASourceThatHasGoneBackAndOnAgainIsComparedForItLacksAMark) {
  world_.database.set_identity({"fake", "1", 100, "", {"one", "two"}});
  take_lead();
  EXPECT_TRUE(kinds().empty());
  world_.database.set_identity({"fake", "1", 200, "", {"one", "two", "three"}});
  take_lead();
  EXPECT_TRUE(kinds().empty()) << "it knows the mark that the index has";
  world_.database.set_identity({"fake", "1", 300, "", {"one", "two"}});
  take_lead();
  EXPECT_EQ(kinds(), everything_);
}

TEST_F(PartnersTest, TheOutboxOfAnotherDatabaseIsGivenUp) {
  world_.put_post("new", "ann");
  world_.database.set_identity({"another", "1", 5});
  take_lead();
  EXPECT_EQ(kinds(), everything_);
  EXPECT_EQ(world_.database.state().position, world_.database.state().outbox.size());
  catch_up_with_a_fresh_leader(world_);
}

TEST_F(PartnersTest, AnIndexWithTheMarkOfAnotherPipelineIsNotTakenOver) {  // I1
  world_.pipeline.identity = "another-identity";
  EXPECT_THROW(take_lead(), Error);
  EXPECT_TRUE(kinds().empty());
}

TEST_F(PartnersTest, AnIndexWithoutItsMarkHoldsNoOtherUpAndIsComparedWhenItHasOneAgain) {
  world_.elasticsearch.forget_mark("posts");
  const TakenLead taken = take_lead();
  ASSERT_EQ(taken.unfit.size(), 1U);
  EXPECT_THAT(taken.unfit.at(kPosts), testing::HasSubstr("it has none"));
  EXPECT_EQ(world_.elasticsearch.epoch("files"), taken.epoch.value);
  EXPECT_TRUE(kinds().empty());
  world_.elasticsearch.create("posts", world_.pipeline.identity);
  EXPECT_TRUE(take_lead().unfit.empty());
  EXPECT_EQ(kinds(), (std::multiset<std::pair<IndexId, JobKind>>{{kPosts, JobKind::kComparison},
                                                                 {kPosts, JobKind::kSweep}}));
}

TEST_F(PartnersTest, AMarkWithAnEpochThatNobodyReachesHoldsNoOtherUp) {
  for (const std::int64_t epoch : {std::int64_t{-1}, DocumentVersion::kMaxEpoch}) {
    world_.elasticsearch.set_epoch("posts", epoch);
    const TakenLead taken = take_lead();
    ASSERT_EQ(taken.unfit.size(), 1U);
    EXPECT_THAT(taken.unfit.at(kPosts), testing::HasSubstr("its epoch is " + std::to_string(epoch)));
    EXPECT_LT(taken.epoch.value, 100);
  }
}

TEST_F(PartnersTest, AnIndexWhoseMarkMayNotBeWrittenHoldsNoOtherUp) {
  world_.elasticsearch.intercept([](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.method != "PUT" || !request.path.starts_with("/posts")) return std::nullopt;
    return HttpResponse{.status = 403, .body = R"({"error":{"type":"security_exception","reason":"no"}})"};
  });
  const TakenLead taken = take_lead();
  ASSERT_EQ(taken.unfit.size(), 1U);
  EXPECT_THAT(taken.unfit.at(kPosts), testing::HasSubstr("security_exception"));
  world_.elasticsearch.intercept({});
  EXPECT_TRUE(take_lead().unfit.empty());
  EXPECT_EQ(kinds().size(), 2U);
}

TEST_F(PartnersTest, WithoutAnyFitIndexNothingIsTakenAndTheServiceWaits) {
  for (const char* alias : {"posts", "files"}) world_.elasticsearch.forget_mark(alias);
  try {
    take_lead();
    FAIL() << "it leads";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().server, Server::kElasticsearch);
    EXPECT_FALSE(error.retryable());
  }
}

TEST_F(PartnersTest, AnIndexThatWasReplacedIsComparedAlone) {
  world_.elasticsearch.replace("posts");
  take_lead();
  EXPECT_EQ(kinds(), (std::multiset<std::pair<IndexId, JobKind>>{{kPosts, JobKind::kComparison},
                                                                 {kPosts, JobKind::kSweep}}));
  catch_up_with_a_fresh_leader(world_);
}

TEST_F(PartnersTest, ASourceThatHasGoneOnIsNotInDoubt) {
  world_.database.set_identity({"fake", "1", 1'000});
  take_lead();
  EXPECT_TRUE(kinds().empty());
}

TEST_F(RecoveryTest, AnIndexThatIsAheadOfItsSourceIsComparedEvenIfTheNextLeaderDiesAtOnce) {
  World world;
  world.add_silently(5);
  world.elasticsearch.damage("posts", "of a lost future", "{}");
  world.elasticsearch.set_epoch("posts", 9);
  {
    FakeSource source(world.database);
    ASSERT_TRUE(source.lead().try_lead());
    ElasticsearchClient client(world.elasticsearch.transports()());
    EXPECT_EQ(take_epoch(world.pipeline, source, client).epoch, Epoch{10});
  }
  EXPECT_EQ(world.elasticsearch.epoch("posts"), 10);
  EXPECT_EQ(world.database.state().jobs.size(), 2U);
  catch_up_with_a_fresh_leader(world);
}

TEST_F(RecoveryTest, DyingWhileTheEpochIsTakenLosesNoComparison) {
  for (int kill_at = 1;; ++kill_at) {
    SCOPED_TRACE("killed at step " + std::to_string(kill_at));
    World world;
    world.add_silently(5);
    world.elasticsearch.set_epoch("posts", 9);
    int steps = 0;
    world.database.at_step([&](Step) {
      if (++steps == kill_at) throw Killed();
    });
    bool killed = false;
    const auto take = [&] {
      FakeSource source(world.database);
      source.lead().try_lead();
      ElasticsearchClient client(world.elasticsearch.transports()());
      take_epoch(world.pipeline, source, client);
    };
    try {
      take();
    } catch (const Killed&) {
      killed = true;
    }
    world.database.at_step({});
    if (!killed) break;
    take();
    EXPECT_EQ(world.database.state().jobs.size(), 2U);
  }
}

}  // namespace
}  // namespace lockstep::fake
