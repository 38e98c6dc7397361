#include "replicator/pipeline/document_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>

#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

class DocumentWriterTest : public testing::Test {
 protected:
  DocumentWriterTest() {
    world_.clock.stop();
    leader_.checkpoint.end_trials();  // as a leader that has been idle once
  }

  StepDocuments write(const std::string& id, const std::string& json = "{}") {
    StepDocuments documents(leader_.versions.epoch(), leader_.number(), 100'000);
    documents.add(world_.posts(), {id, "", json, {}});
    return documents;
  }
  StepDocuments remove(const std::string& id) {
    StepDocuments documents(leader_.versions.epoch(), leader_.number(), 100'000);
    documents.add(world_.posts(), {id, "", std::nullopt, {}});
    return documents;
  }
  void submit(StepDocuments documents, const std::string& position = "") {
    StepEnd end;
    if (!position.empty()) end.position = Position{position};
    leader_.writer.submit(Lane::tail(), std::move(documents), end);
  }
  Acknowledged taken() { return leader_.writer.take_acknowledged(); }

  World world_;
  Leader leader_{world_};
};

/// Elasticsearch answers no bulk request with writes of an alias until end().
class Slowness {
 public:
  Slowness(Elasticsearch& elasticsearch, const std::string& alias) {
    elasticsearch.intercept(
        [held = held_, target = "\"_index\":\"" + alias + "\"",
         over = over_.get_future().share()](const HttpRequest& request) -> std::optional<HttpResponse> {
          if (request.body.find(target) == std::string_view::npos) return std::nullopt;
          ++*held;
          over.wait();
          return std::nullopt;
        });
  }
  ~Slowness() { end(); }
  Slowness(const Slowness&) = delete;
  Slowness& operator=(const Slowness&) = delete;

  /// Requests that have come.
  int held() const { return *held_; }
  void end() {
    if (!std::exchange(ended_, true)) over_.set_value();
  }

 private:
  std::promise<void> over_;
  bool ended_ = false;
  const std::shared_ptr<std::atomic<int>> held_ = std::make_shared<std::atomic<int>>(0);
};

// With one bulk request in flight, small changes without end took the place every time: a fan-out stood at 0.
TEST_F(DocumentWriterTest, TheTailLeavesTheNextPlaceToAPageThatHasWaited) {
  bool has_waited = false;
  leader_.writer.connect({.page_goes_first = [&] { return has_waited; }});
  EXPECT_TRUE(leader_.writer.has_room());
  has_waited = true;
  EXPECT_FALSE(leader_.writer.has_room());
  EXPECT_TRUE(leader_.writer.has_room_for_jobs(1, 1));
  leader_.writer.submit(Lane{JobId{1}}, write("1"), {});
  EXPECT_TRUE(leader_.writer.has_room());
}

TEST_F(DocumentWriterTest, NothingIsAcknowledgedBeforeItsOutcomeIsKnown) {
  world_.elasticsearch.hold();
  submit(write("1"), "1");
  world_.elasticsearch.await_held(1);
  leader_.writer.take_outcomes(std::chrono::milliseconds(0));
  EXPECT_FALSE(leader_.writer.has_news());
  EXPECT_FALSE(leader_.writer.idle());
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().position, Position{"1"});
}

TEST_F(DocumentWriterTest, ADocumentInFlightIsWaitedFor) {  // W1
  world_.elasticsearch.hold();
  submit(write("1", "{\"n\":1}"));
  world_.elasticsearch.await_held(1);
  submit(write("1", "{\"n\":2}"));
  EXPECT_EQ(leader_.writer.requests_in_flight(), 1U);
  EXPECT_FALSE(leader_.writer.idle());
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_TRUE(world_.elasticsearch.overlaps().empty());
  EXPECT_EQ(world_.elasticsearch.get("posts", "1")->json, "{\"n\":2}");
}

// One bulk was in flight all the time: two chunks of random rows nearly always share a document.
TEST_F(DocumentWriterTest, OfTwoStepsThatShareDocumentsBothAreInFlightAndOnlyTheSharedOnesWait) {
  constexpr int kDocuments = 2'000;
  constexpr int kShared = 20;
  const auto step = [&](int first, const std::string& json) {
    StepDocuments documents(leader_.versions.epoch(), leader_.number(), 10'000'000);
    for (int i = first; i < first + kDocuments; ++i)
      documents.add(world_.posts(), {std::to_string(i), "", json, {}});
    return documents;
  };
  world_.elasticsearch.hold();
  submit(step(0, "{\"n\":1}"), "1");
  submit(step(kDocuments - kShared, "{\"n\":2}"), "2");
  world_.elasticsearch.await_held(2);
  EXPECT_EQ(leader_.writer.requests_in_flight(), 2U);
  EXPECT_TRUE(leader_.writer.has_room()) << "the next step is rendered meanwhile";
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 3U);
  EXPECT_EQ(world_.elasticsearch.operations().size(), 2U * kDocuments) << "nothing is written twice";
  EXPECT_TRUE(world_.elasticsearch.overlaps().empty());
  EXPECT_EQ(world_.elasticsearch.get("posts", std::to_string(kDocuments - 1))->json, "{\"n\":2}");
  EXPECT_EQ(taken().position, Position{"2"});
}

TEST_F(DocumentWriterTest, AStepIsDoneWhenThePartOfItThatWaitedIs) {  // A1
  std::atomic<int> bulks = 0;
  std::atomic<bool> takes_the_rest = false;
  world_.elasticsearch.hold();
  world_.elasticsearch.intercept([&](const HttpRequest&) -> std::optional<HttpResponse> {
    if (++bulks <= 2 || takes_the_rest) return std::nullopt;
    return HttpResponse{503, "{}"};
  });
  const std::uint64_t before = leader_.writer.requests_taken_over();
  submit(write("1"), "1");
  StepDocuments both = write("1", "{\"n\":2}");
  both.add(world_.posts(), {"2", "", "{}", {}});
  submit(std::move(both), "2");
  world_.elasticsearch.await_held(2);
  world_.elasticsearch.release();
  ASSERT_TRUE(eventually([&] {
    leader_.writer.take_outcomes(std::chrono::milliseconds(1));
    return bulks >= 3 && leader_.writer.requests_in_flight() == 1;
  }));
  EXPECT_EQ(taken().position, Position{"1"}) << "the other half is done, and the step is not";
  EXPECT_EQ(leader_.writer.requests_done_before(), before + 1);
  takes_the_rest = true;
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().position, Position{"2"});
  EXPECT_EQ(leader_.writer.requests_done_before(), before + 2);
}

// All documents of its request stayed claimed, so that their next changes waited for seconds.
TEST_F(DocumentWriterTest, WhatSharedARequestWithADocumentThatIsRefusedAgainAndAgainIsWrittenAtOnce) {  // W1
  std::atomic<bool> is_refused = true;
  world_.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (!is_refused || request.body.find("poison") == std::string_view::npos) return std::nullopt;
    return HttpResponse{429, R"({"error":{"type":"es_rejected_execution_exception"}})"};
  });
  StepDocuments both = write("1");
  both.add(world_.posts(), {"2", "", "{\"n\":\"poison\"}", {}});
  submit(std::move(both), "1");
  submit(write("1", "{\"n\":2}"), "2");
  ASSERT_TRUE(eventually([&] {
    leader_.writer.take_outcomes(std::chrono::milliseconds(1));
    const auto found = world_.elasticsearch.get("posts", "1");
    return found && found->json == "{\"n\":2}" && leader_.writer.pending(world_.posts().id) == 1;
  }));
  EXPECT_FALSE(world_.elasticsearch.get("posts", "2"));
  EXPECT_FALSE(taken().position) << "the first step is not done";
  is_refused = false;
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_TRUE(world_.elasticsearch.overlaps().empty());
  EXPECT_EQ(taken().position, Position{"2"});
}

// A later write that went first would let an earlier one bring a deleted document back, once Elasticsearch
// has forgotten the deletion.
TEST_F(DocumentWriterTest, WritesOfADocumentGoInTheOrderOfTheirStepsWhetherTheyHaveWaitedOrNot) {  // W1
  world_.elasticsearch.hold();
  submit(write("a"));
  StepDocuments second = remove("a");
  second.add(world_.posts(), {"b", "", "{}", {}});
  submit(std::move(second));
  StepDocuments third = write("c");
  third.add(world_.posts(), {"a", "", "{\"n\":3}", {}});
  submit(std::move(third));
  world_.elasticsearch.await_held(3);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  const std::vector<Operation> operations = world_.elasticsearch.operations_on("a");
  ASSERT_EQ(operations.size(), 3U);
  EXPECT_LT(operations[0].version, operations[1].version);
  EXPECT_LT(operations[1].version, operations[2].version);
  EXPECT_TRUE(operations[1].is_delete);
  EXPECT_TRUE(world_.elasticsearch.overlaps().empty());
}

TEST_F(DocumentWriterTest, AWriteThatWaitsForAnotherDocumentBesideItIsNotOvertaken) {  // W1
  std::promise<void> gate;
  const std::shared_future<void> opened = gate.get_future().share();
  world_.elasticsearch.intercept([opened](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.body.find("\"_id\":\"slow\"") != std::string_view::npos) opened.wait();
    return std::nullopt;
  });
  const auto one_in_flight = [&] {
    leader_.writer.take_outcomes(std::chrono::milliseconds(1));
    return leader_.writer.requests_in_flight() == 1;
  };
  submit(write("a"));
  submit(write("slow"));
  StepDocuments second = remove("a");
  second.add(world_.posts(), {"slow", "", "{}", {}});
  submit(std::move(second));
  ASSERT_TRUE(eventually(one_in_flight)) << "the first write of a is done";
  StepDocuments third = write("c");
  third.add(world_.posts(), {"a", "", "{\"n\":3}", {}});
  submit(std::move(third));
  ASSERT_TRUE(eventually(one_in_flight)) << "c does not wait";
  EXPECT_EQ(world_.elasticsearch.operations_on("a").size(), 1U);
  gate.set_value();
  ASSERT_TRUE(leader_.take_all_outcomes());
  const std::vector<Operation> operations = world_.elasticsearch.operations_on("a");
  ASSERT_EQ(operations.size(), 3U);
  EXPECT_TRUE(operations[1].is_delete);
  EXPECT_LT(operations[1].version, operations[2].version);
}

// Else the writes of a busy row would pile up here, where they cannot be read together.
TEST_F(DocumentWriterTest, AThirdWriteOfADocumentHoldsTheTailBack) {
  world_.elasticsearch.hold();
  submit(write("1", "{\"n\":1}"));
  submit(write("1", "{\"n\":2}"));
  EXPECT_TRUE(leader_.writer.has_room());
  submit(write("1", "{\"n\":3}"));
  EXPECT_FALSE(leader_.writer.has_room());
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(world_.elasticsearch.operations_on("1").size(), 3U);
  EXPECT_EQ(world_.elasticsearch.get("posts", "1")->json, "{\"n\":3}");
}

TEST_F(DocumentWriterTest, WhatWaitsBehindOtherWritesIsBounded) {  // promise 5
  const std::string json = "{\"text\":\"" + std::string(600'000, 'x') + "\"}";
  const auto two = [&] {
    StepDocuments documents = write("1", json);
    documents.add(world_.posts(), {"2", "", json, {}});
    return documents;
  };
  world_.elasticsearch.hold();
  submit(two());
  ASSERT_TRUE(leader_.writer.has_room());
  submit(two());
  EXPECT_FALSE(leader_.writer.has_room()) << "more than a MiB waits";
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
}

TEST_F(DocumentWriterTest, ADocumentUnderAnotherRoutingIsWaitedFor) {  // W1: both may lead to one shard
  world_.elasticsearch.hold();
  submit(write("1"));
  world_.elasticsearch.await_held(1);
  StepDocuments moved(leader_.versions.epoch(), leader_.number(), 100'000);
  moved.add(world_.posts(), {"1", "elsewhere", "{}", {}});
  submit(std::move(moved));
  EXPECT_EQ(leader_.writer.requests_in_flight(), 1U);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
}

TEST_F(DocumentWriterTest, OtherDocumentsDoNotWait) {
  world_.elasticsearch.hold();
  submit(write("1"));
  submit(write("2"));
  world_.elasticsearch.await_held(2);
  EXPECT_EQ(leader_.writer.requests_in_flight(), 2U);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
}

// W4: the loop used to stand still until the first write had its outcome.
TEST_F(DocumentWriterTest, AChangeOfADocumentWhoseWriteTakesLongBecomesDueWhenItIsInTheWay) {
  world_.elasticsearch.hold();
  submit(write("1"), "1");
  submit(write("1"), "2");
  submit(write("1"), "3");
  ASSERT_FALSE(leader_.writer.has_room());
  world_.clock.advance(std::chrono::milliseconds(999));
  leader_.writer.take_outcomes(std::chrono::milliseconds(0));
  ASSERT_FALSE(leader_.writer.has_room());
  world_.clock.advance(std::chrono::milliseconds(1));
  leader_.writer.take_outcomes(std::chrono::milliseconds(0));
  ASSERT_TRUE(leader_.writer.has_room()) << "the others continue";
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().position, Position{"3"});
  const auto unwritten = leader_.writer.news().take_unwritten();
  ASSERT_EQ(unwritten.at(kPosts).documents.size(), 2U);
  EXPECT_EQ(unwritten.at(kPosts).documents[0].id.text, "1");
  EXPECT_EQ(world_.elasticsearch.operations_on("1").size(), 1U);
  EXPECT_EQ(leader_.writer.pending(kPosts), 0);
}

TEST_F(DocumentWriterTest, AChangeThatIsInNobodysWayWaitsLongerBeforeItBecomesDue) {  // W4
  world_.elasticsearch.hold();
  submit(write("1"), "1");
  submit(write("1"), "2");
  world_.clock.advance(std::chrono::milliseconds(2'999));
  leader_.writer.take_outcomes(std::chrono::milliseconds(0));
  EXPECT_EQ(leader_.writer.pending(kPosts), 2);
  world_.clock.advance(std::chrono::milliseconds(1));
  leader_.writer.take_outcomes(std::chrono::milliseconds(0));
  EXPECT_EQ(leader_.writer.pending(kPosts), 1);
  world_.elasticsearch.release();
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().position, Position{"2"});
  EXPECT_EQ(leader_.writer.news().take_unwritten().at(kPosts).documents.size(), 1U);
}

TEST_F(DocumentWriterTest, AChangeOfADocumentWhoseWriteFailsBecomesDueAtOnceAndTheOthersGoOn) {  // W4
  std::atomic<bool> takes_everything = false;
  world_.elasticsearch.intercept([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (takes_everything || request.body.find("\"_id\":\"1\"") == std::string_view::npos) return std::nullopt;
    return HttpResponse{503, "{}"};
  });
  submit(write("1"), "1");
  StepDocuments both = write("1");
  both.add(world_.posts(), {"2", "", "{}", {}});
  submit(std::move(both), "2");
  ASSERT_TRUE(eventually([&] {
    leader_.writer.take_outcomes(std::chrono::milliseconds(1));
    return leader_.writer.pending(kPosts) == 1;
  })) << "the other document is written, and the write behind the failing one is due";
  takes_everything = true;
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().position, Position{"2"});
  ASSERT_EQ(leader_.writer.news().take_unwritten().at(kPosts).documents.size(), 1U);
  EXPECT_TRUE(world_.elasticsearch.overlaps().empty());
}

TEST_F(DocumentWriterTest, AnEmptyStepIsAcknowledgedAtOnce) {
  StepDocuments nothing(leader_.versions.epoch(), leader_.number(), 100'000);
  submit(std::move(nothing), "3");
  EXPECT_EQ(taken().position, Position{"3"});
  EXPECT_EQ(world_.elasticsearch.bulk_requests(), 0U);
}

TEST_F(DocumentWriterTest, ALostReplyIsAskedForAgainAndTheSameVersionLandsTwice) {
  world_.elasticsearch.lose_next_reply();
  submit(write("1"), "1");
  ASSERT_TRUE(leader_.take_all_outcomes());
  const auto operations = world_.elasticsearch.operations_on("1");
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_EQ(operations[0].version, operations[1].version);
  EXPECT_EQ(taken().position, Position{"1"});
}

TEST_F(DocumentWriterTest, ARefusedDocumentIsADeadLetterAndThePositionMovesOn) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"), "1");
  ASSERT_TRUE(leader_.take_all_outcomes());
  const Acknowledged news = taken();
  EXPECT_EQ(news.position, Position{"1"});
  ASSERT_EQ(news.refused.size(), 1U);
  EXPECT_EQ(news.refused[0].id.text, "1");
  EXPECT_EQ(news.refused[0].status, 400);
  EXPECT_EQ(news.refused[0].error_type, "mapper_parsing_exception");
  EXPECT_EQ(leader_.board.read().indices[kPosts].refused, 1);
}

TEST_F(DocumentWriterTest, RefusedThenAppliedLeavesNoDeadLetter) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"));
  submit(write("1", "{\"n\":2}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.save();
  EXPECT_EQ(leader_.saved.back().refused.size(), 1U);
  EXPECT_EQ(leader_.saved.back().no_longer_refused.size(), 1U);
  EXPECT_EQ(leader_.dead_letters(kPosts), 0);
}

TEST_F(DocumentWriterTest, AppliedThenRefusedLeavesTheDeadLetter) {
  world_.elasticsearch.refuse("poison");
  leader_.writer.news().expect_dead_letters(kPosts);
  submit(write("1", "{\"n\":1}"));
  submit(write("1", "{\"poison\":2}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.save();
  EXPECT_EQ(leader_.dead_letters(kPosts), 1);
  EXPECT_EQ(world_.elasticsearch.get("posts", "1")->json, "{\"n\":1}") << "the last state that was taken";
}

TEST_F(DocumentWriterTest, ADeadLetterOfAnEarlierLeadershipGoesWhenItsDocumentIsApplied) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.save();
  Leader next(world_);
  StepDocuments documents(next.versions.epoch(), next.number(), 100'000);
  documents.add(world_.posts(), {"1", "", "{\"n\":2}", {}});
  next.writer.submit(Lane::tail(), std::move(documents), {});
  ASSERT_TRUE(next.take_all_outcomes());
  next.save();
  EXPECT_EQ(next.dead_letters(kPosts), 0);
}

TEST_F(DocumentWriterTest, ADeletedDocumentTakesItsDeadLetterAlong) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"));
  submit(remove("1"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.save();
  EXPECT_EQ(leader_.dead_letters(kPosts), 0);
}

TEST_F(DocumentWriterTest, AppliedWritesAreReportedOnlyWhereThereAreDeadLetters) {
  submit(write("1"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_TRUE(taken().no_longer_refused.empty());
  leader_.writer.news().expect_dead_letters(kPosts);
  submit(write("1"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().no_longer_refused.size(), 1U);
  leader_.writer.news().expect_no_dead_letters(kPosts);
  submit(write("1"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_TRUE(taken().no_longer_refused.empty());
}

TEST_F(DocumentWriterTest, ARefusalThatIsNotSavedYetIsNotForgotten) {
  world_.elasticsearch.refuse("poison");
  submit(write("1", "{\"poison\":1}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.writer.news().expect_no_dead_letters(kPosts);  // the source was asked before the letter was saved
  submit(write("1", "{}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().no_longer_refused.size(), 1U);
}

TEST_F(DocumentWriterTest, ASupersededWriteCountsAsDoneAndClearsNothing) {
  const StepDocuments older = write("1", "{\"n\":1}");
  submit(write("1", "{\"n\":2}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  leader_.writer.news().expect_dead_letters(kPosts);
  taken();
  submit(older, "9");
  ASSERT_TRUE(leader_.take_all_outcomes());
  const Acknowledged news = taken();
  EXPECT_EQ(news.position, Position{"9"});
  EXPECT_TRUE(news.no_longer_refused.empty());
  EXPECT_EQ(world_.elasticsearch.get("posts", "1")->json, "{\"n\":2}");
  EXPECT_EQ(leader_.board.read().indices[kPosts].superseded, 1);
}

// W5: it was taken for superseded, so the change was lost for good.
TEST_F(DocumentWriterTest, AWriteThatMeetsAForeignVersionBecomesDueAndIsWrittenAgain) {
  submit(write("1", "{\"n\":1}"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  for (int i = 0; i < 100; ++i) world_.elasticsearch.damage("posts", "1", "{\"n\":0}");
  std::vector<RecentWrites::Owner> owners;
  leader_.writer.connect(
      {.hear_foreign = [&](const DocumentKey&, RecentWrites::Owner owner) { owners.push_back(owner); }});
  submit(write("1", "{\"n\":2}"), "9");
  ASSERT_TRUE(leader_.take_all_outcomes());
  EXPECT_EQ(taken().position, Position{"9"}) << "the others continue";
  EXPECT_EQ(leader_.writer.news().take_unwritten().at(kPosts).documents.size(), 1U);
  EXPECT_EQ(owners, std::vector<RecentWrites::Owner>{RecentWrites::Owner::kOthers});
  EXPECT_EQ(leader_.board.read().indices[kPosts].superseded, 0);
}

// Three changes of one slow index held all others up, and so did a request that both were in.
TEST(SlowIndex, WaitsAlone) {  // W7
  World world;
  world.slow_request = std::chrono::milliseconds(500);
  Leader leader(world);
  Slowness slowness(world.elasticsearch, "posts");
  const auto step = [&](const AppliedIndex& index, const std::string& id) {
    StepDocuments documents(leader.versions.epoch(), leader.number(), 100'000);
    documents.add(index, {id, "", "{}", {}});
    return documents;
  };
  const auto submit = [&](StepDocuments documents, const std::string& position) {
    StepEnd end;
    end.position = Position{position};
    leader.writer.submit(Lane::tail(), std::move(documents), end);
  };
  for (const char* id : {"1", "2", "3"}) submit(step(world.posts(), id), id);
  EXPECT_FALSE(leader.writer.holds_back(kPosts, BulkPriority::kNormal));
  StepDocuments both = step(world.posts(), "4");
  both.add(world.files(), {"a", "", "{}", {}});
  submit(std::move(both), "4");
  EXPECT_FALSE(leader.writer.has_room());
  ASSERT_TRUE(eventually([&] {
    leader.writer.take_outcomes(std::chrono::milliseconds(5));
    return world.elasticsearch.get("files", "a").has_value() && leader.writer.pending(kFiles) == 0;
  })) << "the other index waits too";
  EXPECT_TRUE(leader.writer.has_room());
  EXPECT_TRUE(leader.writer.holds_back(kPosts, BulkPriority::kNormal));
  EXPECT_FALSE(leader.writer.holds_back(kFiles, BulkPriority::kNormal));
  EXPECT_EQ(leader.writer.requests_in_flight(), 3U) << "the fourth post has no request";
  EXPECT_FALSE(leader.writer.take_acknowledged().position) << "A1";
  slowness.end();
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_EQ(leader.writer.take_acknowledged().position, Position{"4"});
  const auto unwritten = leader.writer.news().take_unwritten();
  ASSERT_EQ(unwritten.at(kPosts).documents.size(), 1U);
  EXPECT_EQ(unwritten.at(kPosts).documents[0].id.text, "4");
  EXPECT_EQ(unwritten.at(kPosts).reason, kSlowIndex);
  EXPECT_EQ(leader.writer.pending(kPosts), 0);
  EXPECT_FALSE(leader.writer.holds_back(kPosts, BulkPriority::kNormal)) << "one request is tried";
  submit(step(world.posts(), "5"), "5");
  ASSERT_TRUE(leader.take_all_outcomes());
  submit(step(world.posts(), "6"), "6");
  EXPECT_FALSE(leader.writer.holds_back(kPosts, BulkPriority::kNormal)) << "it is quick again";
  ASSERT_TRUE(leader.take_all_outcomes());
  const std::size_t before = world.elasticsearch.bulk_requests();
  StepDocuments last = step(world.posts(), "7");
  last.add(world.files(), {"b", "", "{}", {}});
  submit(std::move(last), "7");
  ASSERT_TRUE(leader.take_all_outcomes());
  EXPECT_EQ(world.elasticsearch.bulk_requests(), before + 2) << "it may be slow again at any moment";
  EXPECT_EQ(leader.writer.take_acknowledged().position, Position{"7"});
}

TEST(SlowIndex, ItsChangesBecomeAJobAndEqualTheViewInTheEnd) {  // W7
  World world;
  world.slow_request = std::chrono::milliseconds(500);
  Leader leader(world);
  Slowness slowness(world.elasticsearch, "posts");
  const auto follow = [&] {
    leader.writer.take_outcomes(std::chrono::milliseconds(1));
    leader.tail.turn();
    leader.jobs.turn();
  };
  for (const char* id : {"1", "2", "3"}) {
    world.put_post(id, "ann");
    ASSERT_TRUE(eventually([&] { return follow(), slowness.held() == std::stoi(id); }));
  }
  ASSERT_TRUE(eventually([&] { return follow(), leader.writer.holds_back(kPosts, BulkPriority::kNormal); }));
  for (int n = 0; n < 20; ++n) {
    world.put_post(std::to_string(n % 7), "bob", n);
    world.put_file("a", "here", n);
    ASSERT_TRUE(eventually([&] {
      const auto file = world.elasticsearch.get("files", "a", "here");
      return follow(), file && file->json == "{\"n\":" + std::to_string(n) + "}";
    })) << n;
  }
  EXPECT_LE(slowness.held(), 4) << "jobs have one request of the index";
  EXPECT_TRUE(leader.writer.has_room());
  slowness.end();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world.difference(), "");
  EXPECT_TRUE(world.elasticsearch.overlaps().empty());
}

TEST(SlowIndex, ThatHardlyAnswersIsComparedWhenItDoes) {
  World world;
  world.slow_request = std::chrono::milliseconds(100);
  world.most_behind_slow_write = 50;
  Leader leader(world);
  Slowness slowness(world.elasticsearch, "posts");
  world.put_post("1", "ann");
  ASSERT_TRUE(eventually([&] {
    leader.writer.take_outcomes(std::chrono::milliseconds(1));
    leader.tail.turn();
    return leader.writer.holds_back(kPosts, BulkPriority::kNormal);
  }));
  for (int n = 1; n <= 51; ++n) {
    EXPECT_EQ(leader.standing.paused_text(), "") << n;
    world.put_post("2", "bob", n);
    leader.tail.turn();
  }
  ASSERT_TRUE(leader.standing.is_paused(kPosts));
  EXPECT_EQ(world.database.state().set_aside.at(kPosts),
            "many changes came meanwhile: Elasticsearch is slow to write the index");
  slowness.end();
  ASSERT_TRUE(leader.take_all_outcomes());
  leader.jobs.add(
      leader.standing.take_back_readable(std::chrono::steady_clock::now() + std::chrono::hours(1)));
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world.difference(), "");
}

TEST(SlowIndex, FindsTheDocumentsOfALargeTransactionAtOnce) {  // the outbox keeps its rows until then
  World world;
  world.slow_request = std::chrono::milliseconds(100);
  world.config.replication.fan_out_threshold = 10;
  world.config.replication.chunk_documents = 10;
  Leader leader(world);
  Slowness slowness(world.elasticsearch, "posts");
  world.add_silently(15);
  const auto has_rows = [&] {
    const State state = world.database.state();
    return std::ranges::any_of(state.due.at(kPosts).changes, &DueChanges::keeps_rows);
  };
  const auto follow = [&] {
    leader.writer.take_outcomes(std::chrono::milliseconds(1));
    leader.tail.turn();
    leader.jobs.turn();
    leader.jobs.note_due(leader.changes.due());
  };
  world.put_post("1", "bob");
  ASSERT_TRUE(eventually([&] { return follow(), leader.writer.holds_back(kPosts, BulkPriority::kNormal); }));
  world.rename_user("ann", 1);
  ASSERT_TRUE(
      eventually([&] { return follow(), leader.writer.holds_back(kPosts, BulkPriority::kBackground); }));
  world.database.commit([&](Change& change) {
    for (int i = 0; i < 40; ++i) change.captured(kPostRows, {"p" + std::to_string(i)});
  });
  ASSERT_TRUE(eventually([&] { return follow(), has_rows(); }));
  EXPECT_TRUE(eventually([&] { return follow(), !has_rows(); }));
  slowness.end();
  ASSERT_TRUE(leader.catch_up());
  EXPECT_EQ(world.difference(), "");
}

TEST_F(DocumentWriterTest, TheBoardCountsWhatWasDone) {
  submit(write("1"));
  submit(write("2"));
  submit(remove("3"));
  ASSERT_TRUE(leader_.take_all_outcomes());
  const ReplicationProgress progress = leader_.board.read();
  EXPECT_EQ(progress.indices.at(kPosts).documents, 2);
  EXPECT_EQ(progress.indices.at(kPosts).deletes, 1);
  EXPECT_EQ(progress.bulk_requests, 3);
  EXPECT_GT(progress.bulk_bytes, 0);
}

}  // namespace
}  // namespace lockstep::fake
