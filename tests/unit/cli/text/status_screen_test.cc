#include "replicator/cli/text/status_screen.h"

#include <gmock/gmock.h>

#include <sstream>

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

PipelineStatus following_posts() {
  PipelineStatus status;
  status.epoch = Epoch{7};
  LeaderReport leader;
  leader.state = "following";
  leader.host = "app1";
  leader.pid = 4711;
  leader.document = R"({"documents_per_second": 3400.0, "warnings": ["a trigger is missing"],
                         "jobs": {"4": {"documents_per_second": 25.0}}})";
  status.leader = leader;
  IndexStatus posts;
  posts.alias = "posts";
  posts.dead_letters = 3;
  IndexStatus::Job job;
  job.id = JobId{4};
  job.kind = "comparison";
  job.reason = "a change of blog.users";
  job.done = 250;
  job.total = 1'000;
  posts.jobs.push_back(job);
  status.indices.push_back(posts);
  return status;
}

std::size_t characters(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0U) == 0x80U ? 0 : 1;
  return count;
}

TEST(SparklineTest, ABarIsAsHighAsItsValueAndTheNewestComeLast) {
  EXPECT_EQ(sparkline({0, 1, 2, 3.5, 7, 99}, 7, 10, Glyphs::kUnicode), "▁▂▃▅██");
  EXPECT_EQ(sparkline({0, 1, 7}, 7, 2, Glyphs::kUnicode), "▂█");
  EXPECT_EQ(sparkline({0, 7}, 7, 2, Glyphs::kAscii), "_#");
  EXPECT_EQ(sparkline({0, 0}, 0, 9, Glyphs::kUnicode), "▁▁");
  EXPECT_EQ(sparkline({}, 1, 9, Glyphs::kUnicode), "");
}

TEST(StatusScreenTest, WhatIsDueHasALineAndNoBar) {
  PipelineStatus status = following_posts();
  status.indices[0].jobs.clear();
  status.indices[0].due =
      DueList{.documents = 3'200, .oldest_age = milliseconds(2'100), .reason = "a change"};
  const std::string screen = status_screen("shop", status, {}, "", {80, 40}, Glyphs::kUnicode);
  EXPECT_THAT(screen, HasSubstr("\n    due: 3,200 documents (a change), the oldest for 2.1 s"));
  EXPECT_THAT(screen, Not(HasSubstr("[")));
}

TEST(StatusScreenTest, ItShowsBarsOfLagAndRateAndOfEachJob) {
  PipelineStatus status = following_posts();
  StatusTrends trends;
  status.pending_rows = 4;
  status.pending_age = milliseconds(1'400);
  trends.add(status);
  status.pending_age = milliseconds(12);
  trends.add(status);
  const std::string screen = status_screen("shop", status, trends, "", {80, 40}, Glyphs::kUnicode);
  EXPECT_THAT(screen, HasSubstr("pipeline shop: following"));
  EXPECT_THAT(screen, HasSubstr("lag         █▁  12 ms, 4 rows, at most 1.4 s"));
  EXPECT_THAT(screen, HasSubstr("rate        ██  3,400/s, at most 3,400/s"));
  EXPECT_THAT(screen, HasSubstr("[#####               ] 250 of 1,000 documents  25 %"));
  EXPECT_THAT(screen, HasSubstr("30.0 s left"));
  EXPECT_THAT(screen, HasSubstr("a trigger is missing"));
}

TEST(StatusScreenTest, ItFitsTheScreenAndCountsWhatDoesNot) {
  PipelineStatus status = following_posts();
  StatusTrends trends;
  for (int i = 0; i < 200; ++i) trends.add(status);
  for (int i = 0; i < 30; ++i) status.indices.push_back(status.indices.front());
  std::istringstream lines(status_screen("shop", status, trends, "", {60, 20}, Glyphs::kUnicode));
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count) EXPECT_LE(characters(line), 60U) << line;
  EXPECT_EQ(count, 20);
  EXPECT_THAT(line, HasSubstr("more lines"));
}

TEST(StatusScreenTest, ItSaysThatTheSourceDoesNotAnswerAndKeepsWhatWasKnown) {
  const std::string screen =
      status_screen("shop", following_posts(), {}, "the source is away", {80, 24}, Glyphs::kAscii);
  EXPECT_THAT(screen, HasSubstr("the source is away"));
  EXPECT_THAT(screen, HasSubstr("posts"));
  EXPECT_THAT(status_screen("shop", std::nullopt, {}, "", {80, 24}, Glyphs::kAscii),
              HasSubstr("lockstep apply"));
}

TEST(StatusLineTest, ItIsOneLineWithWhatCounts) {
  PipelineStatus status = following_posts();
  EXPECT_EQ(status_line(status), "following, nothing pending, 3,400/s, 1 job, 3 dead letters, 1 warning");
  status.indices.front().due = DueList{.documents = 3'200, .changes = 1};
  EXPECT_THAT(status_line(status), HasSubstr("3,400/s, 3,200 documents due, 1 job,"));
  status.indices.front().due->documents = 0;
  EXPECT_THAT(status_line(status), HasSubstr("3,400/s, changes due, 1 job,"));
  status.indices.front().set_aside = "its view\nis gone";
  status.pending_rows = 1;
  status.pending_age = seconds(2);
  EXPECT_THAT(status_line(status), HasSubstr("lag 2.0 s, 1 pending row,"));
  EXPECT_THAT(status_line(status), HasSubstr("posts is not followed"));
  EXPECT_THAT(status_line(status), Not(HasSubstr("\n")));
  EXPECT_EQ(status_line(std::nullopt), "not applied");
}

}  // namespace
}  // namespace lockstep
