#include "replicator/service/status_page.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "replicator/service/health.h"
#include "replicator/service/sampler.h"
#include "tests/support/eventually.h"
#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;
using Tone = Headline::Tone;

class StatusPageTest : public testing::Test {
 protected:
  StatusPageTest() {
    progress_.state = PipelineState::kFollowing;
    progress_.leads = true;
    progress_.turned_at = progress_.advanced_at = clock_.now();
    progress_.indices[IndexId{1}] = {.alias = "posts", .documents = 12};
  }

  Headline headline(const PipelineStatus* status = nullptr) {
    return headline_of(progress_, status, clock_.now());
  }

  HandClock clock_;
  ReplicationProgress progress_;
};

TEST_F(StatusPageTest, WhatIsWellIsGood) {
  EXPECT_EQ(headline().tone, Tone::kGood);
  EXPECT_EQ(headline().word, "Following");
  progress_.state = PipelineState::kBackfilling;
  EXPECT_EQ(headline().tone, Tone::kBusy);
  progress_.state = PipelineState::kStandingBy;
  EXPECT_EQ(headline().word, "Standing by");
  EXPECT_EQ(headline().tone, Tone::kGood);
}

TEST_F(StatusPageTest, WhateverLetsElasticsearchFallBehindIsBad) {
  progress_.state = PipelineState::kWaitingForElasticsearch;
  progress_.reason = "it does not answer";
  EXPECT_EQ(headline().word, "Waiting for Elasticsearch");
  EXPECT_EQ(headline().text, "it does not answer");
  EXPECT_EQ(headline().tone, Tone::kBad);
  progress_.state = PipelineState::kWaitingForSource;
  EXPECT_EQ(headline().word, "Waiting for the database");
  progress_.state = PipelineState::kStandingBy;
  progress_.unled = "it has never run";
  EXPECT_EQ(headline().word, "No leader");
  EXPECT_EQ(headline().tone, Tone::kBad);
  progress_.state = PipelineState::kFollowing;
  clock_.move(kStuckAfter + seconds(1));
  EXPECT_EQ(headline().word, "Stuck");
  clock_.move(kHungAfter);
  EXPECT_EQ(headline().word, "Hangs");
  EXPECT_EQ(headline().tone, Tone::kBad);
}

TEST_F(StatusPageTest, AStandbyIsNotGreenWhileTheLeaderCannotWrite) {
  progress_.state = PipelineState::kStandingBy;
  progress_.leader_state = PipelineState::kWaitingForElasticsearch;
  progress_.leader_reason = "connection refused";
  EXPECT_EQ(headline().tone, Tone::kBad);
  EXPECT_EQ(headline().word, "Waiting for Elasticsearch");
  EXPECT_EQ(headline().text, "Another process leads. It waits: connection refused");
  progress_.leader_state = PipelineState::kWaitingForSource;
  EXPECT_EQ(headline().word, "Waiting for the database");
  progress_.leader_state = PipelineState::kFollowing;
  EXPECT_EQ(headline().tone, Tone::kGood);
}

TEST_F(StatusPageTest, AStandbyIsNotGreenWhileChangesGrowOld) {
  progress_.state = PipelineState::kStandingBy;
  progress_.pending = true;
  progress_.lag = kStuckAfter;
  EXPECT_EQ(headline().tone, Tone::kGood) << "the leader may have a large backlog before it";
  progress_.lag += seconds(1);
  EXPECT_EQ(headline().tone, Tone::kWarn);
  EXPECT_EQ(
      headline().text,
      "Another process leads. Changes wait too long: look at the process that leads. The oldest pending "
      "change is 31.0 s old.");
}

TEST_F(StatusPageTest, WhatSomebodyHasToSeeToIsNamed) {
  progress_.indices[IndexId{1}].dead_letters = 3;
  progress_.indices[IndexId{2}] = {.alias = "users", .set_aside = true};
  progress_.warnings = {"a trigger is missing"};
  PipelineStatus status;
  status.reindexes.push_back({});
  status.reindexes.back().alias = "posts";
  status.reindexes.back().failure = "a value";
  const Headline told = headline(&status);
  EXPECT_EQ(told.tone, Tone::kWarn);
  EXPECT_EQ(told.word, "Needs attention");
  for (const char* part :
       {"One index is not followed", "3 dead letters", "the reindex of posts failed", "1 warning"})
    EXPECT_THAT(told.text, HasSubstr(part));
  EXPECT_THAT(told.text, Not(HasSubstr("Everything"))) << "some of it is not there";
}

TEST_F(StatusPageTest, EverythingIsThereOnlyWhenNothingIsUnderWay) {
  EXPECT_EQ(headline().text, "Everything that was committed is in Elasticsearch.");
  progress_.indices[IndexId{1}].jobs.push_back({.id = JobId{1}, .kind = JobKind::kSweep});
  EXPECT_EQ(headline().text, "A job is under way. No other change is pending.");
  progress_.pending = true;
  progress_.lag = milliseconds(12);
  EXPECT_EQ(headline().text, "A job is under way. The oldest pending change is 12 ms old.");
  PipelineStatus status;
  status.indices.resize(1);
  status.indices[0].jobs.resize(2);
  EXPECT_THAT(headline(&status).text, HasSubstr("2 jobs are under way."));
}

TEST_F(StatusPageTest, NotEverythingIsThereWhileSomethingIsDue) {
  progress_.indices[IndexId{1}].due = DueList{.changes = 1};
  EXPECT_EQ(headline().text,
            "Changes are due whose documents are still to be found. No other change is pending.");
  progress_.indices[IndexId{1}].due = DueList{.documents = 12'340, .changes = 1};
  EXPECT_EQ(headline().text, "12,340 documents are due. No other change is pending.");
  PipelineStatus status;
  status.indices.resize(2);
  EXPECT_EQ(headline(&status).text, "Everything that was committed is in Elasticsearch.")
      << "the source knows better";
  for (IndexStatus& index : status.indices) index.due = DueList{.documents = 10};
  status.indices[0].jobs.resize(1);
  EXPECT_EQ(headline(&status).text, "A job is under way. 20 documents are due. No other change is pending.");
}

// A page that asks a source, and what it says.
class StatusPageJsonTest : public StatusPageTest {
 protected:
  class Reader final : public StatusReader {
   public:
    explicit Reader(const PipelineStatus& status) : status_(status) {}
    std::optional<PipelineStatus> read() override { return status_; }

   private:
    const PipelineStatus& status_;
  };

  StatusPageJsonTest() {
    LeaderReport leader;
    leader.state = "following";
    leader.host = "app1";
    leader.pid = 4711;
    leader.document = R"({"indices": {"posts": {"documents": 77, "deletes": 1, "superseded": 0,
                                               "due_per_second": 50.0}},
                         "jobs": {"4": {"documents_per_second": 3.0}}})";
    status_.leader = leader;
    status_.standbys = std::vector<Standby>{{.host = "10.0.0.7", .since = "2026-01-31T12:00:00Z"}};
    IndexStatus index;
    index.id = IndexId{1};
    index.alias = "posts";
    index.dead_letters = 2;
    index.set_aside = "invalid input syntax for type integer: \"secret\"";
    index.refused = {{"mapper_parsing_exception", 2}};
    IndexStatus::Job job;
    job.id = JobId{4};
    job.kind = "comparison";
    job.done = 10;
    job.total = 40;
    job.unreadable = "its position is \"secret\"";
    index.jobs.push_back(job);
    index.due = DueList{.index = IndexId{1},
                        .documents = 1'000,
                        .oldest_age = milliseconds(2'100),
                        .reason = "a change of many documents"};
    status_.indices.push_back(index);
    status_.reindexes.push_back(
        {"posts", "failed", "posts-000001", "posts-000002", "", "secret", "secret", {}});
  }

  nlohmann::json page() {
    board_.update([&](ReplicationProgress& progress) { progress = progress_; });
    WatchedStatus watched([&] { return std::make_unique<Reader>(status_); }, clock_,
                          {milliseconds(1), seconds(60)});
    support::wait_until([&] { return watched.look().is_known; }, seconds(10));
    return nlohmann::json::parse(StatusPage("shop", board_, clock_, history_, watched).json());
  }

  PipelineStatus status_;
  ProgressBoard board_;
  History history_;
};

TEST_F(StatusPageJsonTest, ItTellsWhoLeadsWhoStandsByAndHowFarJobsAre) {
  progress_.job_rates = {{JobId{4}, 2}};
  progress_.due_rates = {{IndexId{1}, 100}};
  const nlohmann::json json = page();
  EXPECT_EQ(json["headline"]["tone"], "warn") << "a reindex has failed";
  EXPECT_EQ(json["leader"]["pid"], 4711);
  EXPECT_EQ(json["leader"]["runs"], true);
  EXPECT_EQ(json["standbys"][0]["host"], "10.0.0.7");
  EXPECT_EQ(json["indices"][0]["refused"][0]["error"], "mapper_parsing_exception");
  EXPECT_EQ(json["indices"][0]["jobs"][0]["seconds_left"], 15.0) << "the leader knows its own speed best";
  const nlohmann::json due = {{"documents", 1'000},
                              {"changes", 0},
                              {"oldest_seconds", 2.1},
                              {"reason", "a change of many documents"},
                              {"documents_per_second", 100.0},
                              {"seconds_left", 10.0}};
  EXPECT_EQ(json["indices"][0]["due"], due);
  EXPECT_EQ(json["indices"][0]["documents"], 12) << "the leader knows its own counters best";
  EXPECT_EQ(json["servers"]["elasticsearch"]["answers"], true);
  EXPECT_EQ(json["history"]["lag"].size(), static_cast<std::size_t>(History::kSteps));
}

TEST_F(StatusPageJsonTest, AStandbyTellsWhatTheLeaderSays) {
  progress_.leads = false;
  progress_.state = PipelineState::kStandingBy;
  status_.leader->state = "waiting_for_elasticsearch";
  const nlohmann::json json = page();
  EXPECT_EQ(json["indices"][0]["documents"], 77);
  EXPECT_EQ(json["servers"]["elasticsearch"]["answers"], false);
  EXPECT_EQ(json["servers"]["database"]["answers"], true);
  EXPECT_EQ(json["indices"][0]["jobs"][0]["seconds_left"], 10.0);
  EXPECT_EQ(json["indices"][0]["due"]["seconds_left"], 20.0);
}

TEST_F(StatusPageJsonTest, AnIndexOfWhichNothingIsDueSaysSo) {
  status_.indices[0].due.reset();
  EXPECT_TRUE(page()["indices"][0]["due"].is_null());
}

TEST_F(StatusPageJsonTest, WhatMayHoldAValueOfARowIsLeftOut) {
  const nlohmann::json json = page();
  EXPECT_THAT(json.dump(), Not(HasSubstr("secret")));
  EXPECT_EQ(json["indices"][0]["set_aside"], true);
  EXPECT_EQ(json["indices"][0]["jobs"][0]["unreadable"], true);
  EXPECT_EQ(json["reindexes"][0]["failed"], true);
}

TEST_F(StatusPageJsonTest, ASourceThatKnowsNoStandbysSaysSo) {
  status_.standbys.reset();
  EXPECT_TRUE(page()["standbys"].is_null());
}

TEST_F(StatusPageTest, NobodyKnowsTheLagWhileTheSourceIsAway) {
  progress_.lag = seconds(3);
  EXPECT_EQ(sample_of(progress_)->lag, seconds(3));
  EXPECT_EQ(sample_of(progress_)->documents, 12);
  progress_.state = PipelineState::kStandingBy;
  EXPECT_FALSE(sample_of(progress_)->documents);
  progress_.state = PipelineState::kWaitingForSource;
  EXPECT_FALSE(sample_of(progress_));
}

}  // namespace
}  // namespace lockstep
