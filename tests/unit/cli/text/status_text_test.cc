#include "replicator/cli/text/status_text.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "replicator/pipeline/progress.h"
#include "replicator/service/leader_report.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::HasSubstr;

PipelineStatus following() {
  ReplicationProgress progress;
  progress.indices[IndexId{1}] = {
      .alias = "posts", .documents = 48'000, .deletes = 3, .superseded = 2, .refused = 1};
  progress.bulks_in_flight = 2;
  progress.warnings = {"changes of blog.users are not followed"};
  progress.bulk_retries = 7;
  progress.job_rates = {{JobId{4}, 1'200}};
  progress.due_rates = {{IndexId{1}, 8'100}};
  PipelineStatus status;
  status.identity = "5e0c1a2b";
  status.epoch = Epoch{7};
  status.checkpoint_age = std::chrono::milliseconds(1'250);
  status.pending_rows = 3;
  status.outbox_bytes = 96 * 1024;
  status.pending_age = std::chrono::milliseconds(12);
  status.leader = LeaderReport{.state = "following",
                               .reason = "",
                               .host = "db1",
                               .pid = 123,
                               .started_at = "2026-01-31T12:00:00+00:00",
                               .age = std::chrono::milliseconds(400),
                               .document = status_document(progress, 3'400)};
  status.indices.push_back({.alias = "posts",
                            .view = "search.posts",
                            .dead_letters = 1,
                            .jobs = {{.id = JobId{4},
                                      .kind = "backfill",
                                      .unreadable = "",
                                      .reason = "new index",
                                      .done = 12'000,
                                      .total = 48'000}}});
  status.reindexes.push_back({.alias = "posts",
                              .state = "filling",
                              .live = "posts-000001",
                              .beside = "posts-000002",
                              .wanted = "",
                              .reason = "it is red",
                              .failure = ""});
  return status;
}

// Reported: the first line had "following, nothing pending" while the only index was paused.
TEST(StatusTextTest, TheFirstLineCountsPausedIndices) {
  PipelineStatus status = following();
  EXPECT_THAT(status_text("shop", status), testing::StartsWith("pipeline shop: following\n"));
  status.indices.push_back({.alias = "users", .view = "search.users", .set_aside = "its view is gone"});
  EXPECT_THAT(status_text("shop", status),
              testing::StartsWith("pipeline shop: following, 1 of 2 indices paused\n"));
}

TEST(StatusTextTest, AnOutboxThatIsLargeOrFullIsWorthAWord) {
  PipelineStatus status = following();
  status.outbox_bytes = std::int64_t{3} << 30;
  EXPECT_THAT(status_text("shop", status),
              HasSubstr("outbox      3.0 GiB, and nothing limits it: see replication.max_outbox_size\n"));
  status.max_outbox_bytes = std::int64_t{4} << 30;
  EXPECT_THAT(status_text("shop", status), HasSubstr("outbox      3.0 GiB of 4.0 GiB\n"));
  status.given_up = true;
  EXPECT_THAT(status_text("shop", status), HasSubstr("it was full, so changes were not captured"));
  EXPECT_TRUE(json::parse(status_json("shop", status)).at("outbox").at("given_up"));
}

TEST(StatusTextTest, TheJsonHasTheDocumentedKeys) {
  const json status = json::parse(status_json("shop", following()));
  const json expected = {
      {"pipeline", "shop"},
      {"state", "following"},
      {"reason", ""},
      {"epoch", 7},
      {"leader",
       {{"host", "db1"}, {"pid", 123}, {"started_at", "2026-01-31T12:00:00+00:00"}, {"heard_seconds", 0.4}}},
      {"lead", json::array()},
      {"lag", {{"seconds", 0.012}, {"rows", 3}}},
      {"slo", nullptr},
      {"outbox", {{"bytes", 98'304}, {"max_bytes", nullptr}, {"given_up", false}}},
      {"checkpoint_age_seconds", 1.25},
      {"documents_per_second", 3'400.0},
      {"bulk", {{"in_flight", 2}, {"retries", 7}}},
      {"warnings", {"changes of blog.users are not followed"}},
      {"reindexes",
       {{{"alias", "posts"},
         {"state", "filling"},
         {"live", "posts-000001"},
         {"beside", "posts-000002"},
         {"wanted", ""},
         {"reason", "it is red"},
         {"failure", ""},
         {"keep_seconds", 0.0},
         {"max_rate", nullptr}}}},
      {"indices",
       {{"posts",
         {{"view", "search.posts"},
          {"documents", 48'000},
          {"deletes", 3},
          {"superseded", 2},
          {"refused", 1},
          {"dead_letters", 1},
          {"set_aside", ""},
          {"due", nullptr},
          {"jobs", json::array({{{"id", 4},
                                 {"kind", "backfill"},
                                 {"unreadable", ""},
                                 {"reason", "new index"},
                                 {"done", 12'000},
                                 {"total", 48'000},
                                 {"seconds_left", 30.0}}})}}}}},
  };
  EXPECT_EQ(status, expected) << status.dump(2);
}

TEST(StatusTextTest, EveryKeyIsInTheReference) {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/docs/monitoring.md");
  const std::string reference{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  PipelineStatus known = following();
  known.indices[0].due = DueList{.documents = 1};
  const json status = json::parse(status_json("shop", known));
  for (const auto& [key, value] : status.items()) {
    if (value.is_object()) continue;
    EXPECT_THAT(reference, HasSubstr("`" + key + "`"));
  }
  for (const char* object : {"leader", "lag", "bulk"}) {
    for (const auto& [key, value] : status[object].items()) {
      EXPECT_THAT(reference, HasSubstr("`" + std::string(object) + "." + key + "`"));
    }
  }
  for (const auto& [key, value] : status["indices"]["posts"].items())
    EXPECT_THAT(reference, HasSubstr("." + key));
  for (const auto& [key, value] : status["indices"]["posts"]["due"].items())
    EXPECT_THAT(reference, HasSubstr("." + key + "`"));
}

TEST(StatusTextTest, TheTextSaysWhatMatters) {
  EXPECT_EQ(status_text("shop", following()),
            "pipeline shop: following\n"
            "  lag         12 ms, 3 rows\n"
            "  outbox      96.0 KiB\n"
            "  rate        3,400/s\n"
            "  checkpoint  1.2 s ago\n"
            "  leader      db1, process 123, since 2026-01-31T12:00:00Z, epoch 7\n"
            "  warning     changes of blog.users are not followed\n"
            "  reindex     of posts: filling, posts-000002 alongside posts-000001; it waits: it is red\n"
            "\n"
            "  index         written         deleted    superseded  dead letters\n"
            "  posts          48,000               3             2             1\n"
            "    backfill (new index): 12,000 of about 48,000 documents, 25 %, about 30.0 s left\n");
}

// Of an hour in which a minute was missed, with a report that is 400 ms old.
PipelineStatus with_objective() {
  PipelineStatus status = following();
  const WallTime begin{std::chrono::hours(500'000)};
  Freshness freshness(std::chrono::seconds(2), begin);
  for (WallTime at = begin; at <= begin + std::chrono::hours(1); at += std::chrono::seconds(1))
    freshness.note(at, at > begin + std::chrono::minutes(1));
  status.leader->document = status_document({}, 0, freshness);
  return status;
}

TEST(StatusTextTest, HowWellTheObjectiveWasMetIsSaidWithWhatIsKnown) {
  PipelineStatus status = with_objective();
  EXPECT_THAT(status_text("shop", status),
              HasSubstr("  freshness   within 2s for 98.33 % of the last 1 h 0 min; more is not known\n"));
  const json slo = json::parse(status_json("shop", status)).at("slo");
  EXPECT_EQ(slo.at("lag_seconds"), 2);
  EXPECT_EQ(slo.at("known_seconds"), 3'600);
  EXPECT_NEAR(slo.at("share").get<double>(), 59.0 / 60, 1e-9);
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/docs/monitoring.md");
  const std::string reference{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const auto& [key, value] : slo.items()) EXPECT_THAT(reference, HasSubstr("`." + key + "`"));
}

TEST(StatusTextTest, TheTimeWithoutALeaderCountsAgainstTheObjective) {
  PipelineStatus status = with_objective();
  status.leader->age = std::chrono::hours(1);
  EXPECT_THAT(status_text("shop", status), HasSubstr("within 2s for 49.16 % of the last 2 h 0 min"));
}

TEST(StatusTextTest, AHundredPercentOfTheObjectiveMeansThatNothingWasMissed) {
  using std::chrono::milliseconds;
  const milliseconds day = std::chrono::hours(24);
  EXPECT_EQ(freshness_text({milliseconds(500), day, {}}), "within 500ms for 100 % of the last day");
  EXPECT_EQ(freshness_text({milliseconds(500), day, milliseconds(1)}),
            "within 500ms for 99.99 % of the last day");
  EXPECT_EQ(freshness_text({milliseconds(500), day, day}), "within 500ms for 0 % of the last day");
}

TEST(StatusTextTest, NotesOfTheObjectiveThatNobodyCanReadAreAWarning) {
  PipelineStatus status = following();
  status.leader->document = R"({"slo": 7})";
  EXPECT_EQ(json::parse(status_json("shop", status)).at("slo"), nullptr);
  EXPECT_THAT(status_text("shop", status),
              HasSubstr("warning     reading lockstep's table pipeline_status: its document.slo is 7, not"));
}

// Hundreds of equal jobs pushed reason and warnings off the screen, and nothing said that Elasticsearch was
// away.
TEST(StatusTextTest, WhatIsDueOfAnIndexTakesOneLineThatSaysWhatItWaitsFor) {
  PipelineStatus status = following();
  const auto due_line = [&](const DueList& due) {
    status.indices[0].due = due;
    const std::string text = status_text("shop", status);
    const std::size_t at = text.find("    due: ");
    EXPECT_EQ(text.find("    due: ", at + 1), std::string::npos) << text;
    return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
  };
  const std::chrono::milliseconds age(2'100);
  EXPECT_EQ(
      due_line({.documents = 16'200, .oldest_age = age, .reason = "a change of many documents"}),
      "    due: 16,200 documents (a change of many documents), the oldest for 2.1 s, 8,100 documents/s, "
      "about 2.0 s left");
  EXPECT_EQ(due_line({.documents = 1, .changes = 3, .oldest_age = age, .reason = "verify --repair"}),
            "    due: 1 document, and changes whose documents are still to be found (verify --repair), the "
            "oldest for 2.1 s, 8,100 documents/s")
      << "how long it takes is known when they are found";
  ReplicationProgress slow;
  slow.indices[IndexId{1}].alias = "posts";
  slow.due_rates = {{IndexId{1}, 0.4}};
  status.leader->document = status_document(slow, 0);
  EXPECT_EQ(due_line({.documents = 24, .oldest_age = age}),
            "    due: 24 documents, the oldest for 2.1 s, 0.4 documents/s, about 1 min 0 s left");
  status.leader->document = status_document({}, 0);
  EXPECT_EQ(due_line({.changes = 3, .oldest_age = age}),
            "    due: changes whose documents are still to be found, the oldest for 2.1 s");
  status.leader->state = "waiting_for_elasticsearch";
  EXPECT_EQ(due_line({.documents = 7, .oldest_age = age}),
            "    due: 7 documents, the oldest for 2.1 s, and waits for Elasticsearch");
}

TEST(StatusTextTest, TheJsonHasTheKeysOfWhatIsDue) {
  PipelineStatus status = following();
  status.indices[0].due = DueList{.documents = 16'200,
                                  .oldest_age = std::chrono::milliseconds(2'100),
                                  .reason = "a change of many documents"};
  const auto due = [&] { return json::parse(status_json("shop", status))["indices"]["posts"]["due"]; };
  const json expected = {{"documents", 16'200},
                         {"changes", 0},
                         {"oldest_seconds", 2.1},
                         {"reason", "a change of many documents"},
                         {"documents_per_second", 8'100.0},
                         {"seconds_left", 2.0}};
  EXPECT_EQ(due(), expected);
  status.indices[0].due->changes = 1;
  EXPECT_EQ(due()["seconds_left"], nullptr) << "not all of its documents are found";
  status.indices[0].due->changes = 0;
  status.leader->age = std::chrono::hours(1);
  EXPECT_EQ(due()["documents_per_second"], 0.0) << "nobody runs it";
  EXPECT_EQ(due()["seconds_left"], nullptr);
}

// The estimate divided by the age of the job's row, whoever had run it in that time.
TEST(StatusTextTest, TheTimeLeftIsByTheRateOfTheLeaderThatRunsAndThereIsNoneWithoutOne) {
  PipelineStatus status = following();
  const auto seconds_left = [&] {
    return json::parse(status_json("shop", status))["indices"]["posts"]["jobs"][0]["seconds_left"];
  };
  EXPECT_EQ(seconds_left(), 30.0);
  status.leader->age = std::chrono::hours(1);
  EXPECT_EQ(seconds_left(), nullptr) << "nobody runs it";
  EXPECT_THAT(status_text("shop", status), HasSubstr("12,000 of about 48,000 documents, 25 %\n"));
  status = following();
  status.leader->document = status_document({}, 0);
  EXPECT_EQ(seconds_left(), nullptr) << "the job stands, or has only begun";
}

TEST(StatusTextTest, AJobThatAdvancesDoesNotSeemToWaitForAnIndexThatIsHeld) {
  PipelineStatus status = following();
  status.leader->state = "waiting_for_elasticsearch";
  EXPECT_THAT(status_text("shop", status),
              HasSubstr("12,000 of about 48,000 documents, 25 %, about 30.0 s left\n"));
}

TEST(StatusTextTest, ASweepSaysThatItMayStandStillAndUntilWhen) {
  PipelineStatus status = following();
  status.indices[0].jobs = {{.id = JobId{5}, .kind = "sweep", .reason = "it was restored"}};
  EXPECT_THAT(status_text("shop", status),
              HasSubstr("    sweep (it was restored): 0 documents; after a leader's death it waits "
                        "elasticsearch.request_timeout and 30 s for that leader's late writes"));
}

TEST(StatusTextTest, AJobThatHasDoneOneDocumentHasNotDoneDocuments) {
  PipelineStatus status = following();
  status.indices[0].jobs = {{.id = JobId{5}, .kind = "sweep", .reason = "it was restored", .done = 1}};
  EXPECT_THAT(status_text("shop", status), HasSubstr("    sweep (it was restored): 1 document; "));
}

TEST(StatusTextTest, AJobThatNobodyCanReadIsShownByItsWordWithTheReason) {
  PipelineStatus status = following();
  status.indices[0].jobs[0].kind = "rebuild";
  status.indices[0].jobs[0].unreadable = "reading job 4: its kind is \"rebuild\"";
  EXPECT_THAT(
      status_text("shop", status),
      HasSubstr("    rebuild (new index): it cannot be done: reading job 4: its kind is \"rebuild\"\n"));
  const json job = json::parse(status_json("shop", status))["indices"]["posts"]["jobs"][0];
  EXPECT_EQ(job["kind"], "rebuild");
  EXPECT_EQ(job["unreadable"], "reading job 4: its kind is \"rebuild\"");
}

TEST(StatusTextTest, AStateThatNobodyKnowsIsAWarning) {
  PipelineStatus status = following();
  status.leader->state = "dancing";
  EXPECT_THAT(status_text("shop", status),
              HasSubstr("warning     reading lockstep's table pipeline_status: its "
                        "state is \"dancing\", which this lockstep does not know"));
  EXPECT_EQ(json::parse(status_json("shop", status))["warnings"].size(), 2U);
}

TEST(StatusTextTest, WhoHoldsTheLeadIsNamed) {
  PipelineStatus status = following();
  status.lead = {{4711, "shop", "lockstep shop tail", "2026-01-31T11:59:00Z", true},
                 {815, "app", "psql", "", false}};
  EXPECT_EQ(json::parse(status_json("shop", status))["lead"],
            json::array({{{"pid", 4711},
                          {"user", "shop"},
                          {"application", "lockstep shop tail"},
                          {"since", "2026-01-31T11:59:00Z"},
                          {"is_lockstep", true}},
                         {{"pid", 815},
                          {"user", "app"},
                          {"application", "psql"},
                          {"since", nullptr},
                          {"is_lockstep", false}}}));
  const std::string text = status_text("shop", status);
  EXPECT_THAT(
      text,
      HasSubstr(
          "lock        held by session 4711 of shop (lockstep shop tail), connected 2026-01-31T11:59:00Z\n"));
  EXPECT_THAT(text, HasSubstr("warning     session 815 of role app (psql) holds the lock of the lead"));
}

TEST(StatusTextTest, AReindexHasALine) {
  PipelineStatus status = following();
  EXPECT_THAT(
      status_text("shop", status),
      HasSubstr("reindex     of posts: filling, posts-000002 alongside posts-000001; it waits: it is red\n"));
  status.reindexes[0].reason = "";
  status.reindexes[0].max_rate = 2'500;
  EXPECT_THAT(status_text("shop", status),
              HasSubstr("posts-000002 alongside posts-000001, at most 2,500 documents/s\n"));
  EXPECT_EQ(json::parse(status_json("shop", status))["reindexes"][0]["max_rate"], 2'500);
  status.reindexes[0].state = "kept";
  status.reindexes[0].reason = "";
  status.reindexes[0].keep = std::chrono::hours(100);
  EXPECT_THAT(status_text("shop", status), HasSubstr("posts-000002 alongside posts-000001 for 4 d 4 h\n"));
  status.reindexes[0].state = "failed";
  status.reindexes[0].failure = "posts-000002 was deleted";
  EXPECT_THAT(status_text("shop", status),
              HasSubstr("posts-000002 was deleted; `lockstep reindex --abort posts` ends it\n"));
}

TEST(StatusTextTest, APipelineThatWasNeverAppliedSaysSo) {
  EXPECT_EQ(status_text("shop", std::nullopt), "pipeline shop: not applied\n  run `lockstep apply` first\n");
  EXPECT_EQ(json::parse(status_json("shop", std::nullopt))["state"], "not_applied");
}

TEST(StatusTextTest, ALeaderThatSaysNothingIsNotRunning) {
  PipelineStatus status = following();
  status.leader->age = kSilentAfter + std::chrono::seconds(1);
  EXPECT_EQ(state_of(status), "not_running");
  EXPECT_THAT(status_text("shop", status), HasSubstr("db1, process 123, has not reported for 11.0 s"));
  EXPECT_EQ(json::parse(status_json("shop", status))["documents_per_second"], 0);
}

TEST(StatusTextTest, APipelineThatStartsForTheFirstTimeIsNotCalledOneThatHasNeverRun) {
  PipelineStatus status = following();
  status.leader.reset();
  EXPECT_EQ(state_of(status), "not_running");
  EXPECT_THAT(status_text("shop", status), HasSubstr("it has never run"));
  status.lead = {{.pid = 7, .user = "stranger", .is_lockstep = false}};
  EXPECT_EQ(state_of(status), "not_running") << "its session does not count";
  status.lead = {{.pid = 8, .user = "lockstep", .application = "shop"}};
  EXPECT_EQ(state_of(status), "starting");
  EXPECT_THAT(status_text("shop", status),
              HasSubstr("a process has become leader, and has not reported yet"));
  EXPECT_EQ(json::parse(status_json("shop", status))["state"], "starting");
}

TEST(StatusTextTest, ALeaderThatStoppedSaysWhy) {
  PipelineStatus status = following();
  status.leader->state = "stopped";
  EXPECT_EQ(state_of(status), "not_running");
  EXPECT_THAT(status_text("shop", status), HasSubstr("it was stopped"));
  status.leader->reason = "creating index posts-000001: forbidden";
  EXPECT_EQ(json::parse(status_json("shop", status))["reason"], "creating index posts-000001: forbidden");
  status.leader->reason = "looking up shop: no answer";
  EXPECT_THAT(status_text("shop", status),
              AllOf(HasSubstr("\n  last report looking up shop: no"), HasSubstr("\n  last leader ")));
}

TEST(StatusTextTest, ABacklogBeyondWhatIsCountedIsMore) {
  PipelineStatus status = following();
  status.pending_rows = kMaxPendingRows;
  EXPECT_THAT(status_text("shop", status), HasSubstr("100,000 rows or more"));
  status.pending_rows = 0;
  EXPECT_THAT(status_text("shop", status), HasSubstr("nothing pending"));
}

}  // namespace
}  // namespace lockstep
