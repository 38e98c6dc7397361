#include "replicator/pipeline/freshness.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "replicator/error.h"
#include "replicator/pipeline/progress.h"

namespace lockstep {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr WallTime kBegin{hours(500'000)};
constexpr seconds kObjective{2};

// A note a second.
void note_for(Freshness& freshness, WallTime& now, seconds time, bool met) {
  for (const WallTime end = now + time; now < end;) freshness.note(now += seconds(1), met);
}

std::string document_of(const Freshness& freshness) {
  ReplicationProgress progress;
  return status_document(progress, 0, freshness);
}

TEST(FreshnessTest, NothingIsKnownBeforeTheFirstNote) {
  EXPECT_FALSE(Freshness(kObjective, kBegin).report(kBegin));
}

TEST(FreshnessTest, WhatWasMissedIsAShareOfWhatIsKnown) {
  WallTime now = kBegin;
  Freshness freshness(kObjective, now);
  note_for(freshness, now, minutes(50), true);
  note_for(freshness, now, minutes(6), false);
  note_for(freshness, now, minutes(4), true);
  const FreshnessReport report = freshness.report(now).value();
  EXPECT_EQ(report.objective, kObjective);
  EXPECT_EQ(report.known, hours(1));
  EXPECT_EQ(report.missed, minutes(6));
  EXPECT_DOUBLE_EQ(report.share(), 0.9);
}

TEST(FreshnessTest, WhatNobodyNotedIsMissed) {
  WallTime now = kBegin;
  Freshness freshness(kObjective, now);
  note_for(freshness, now, minutes(10), true);
  EXPECT_EQ(freshness.report(now + seconds(2)).value().missed, seconds(0)) << "the next note is on its way";
  EXPECT_EQ(freshness.report(now + minutes(10)).value().missed, minutes(10));
  freshness.note(now += minutes(10), true);
  note_for(freshness, now, minutes(20), true);
  EXPECT_EQ(freshness.report(now).value().missed, minutes(10));
}

TEST(FreshnessTest, ItForgetsWhatIsOlderThanADay) {
  WallTime now = kBegin;
  Freshness freshness(kObjective, now);
  note_for(freshness, now, minutes(30), false);
  note_for(freshness, now, hours(24) - minutes(30), true);
  EXPECT_EQ(freshness.report(now).value().missed, minutes(25)) << "24 hours less the step that is not over";
  note_for(freshness, now, minutes(30), true);
  const FreshnessReport report = freshness.report(now).value();
  EXPECT_EQ(report.missed, seconds(0));
  EXPECT_DOUBLE_EQ(report.share(), 1);
  EXPECT_GT(report.known, hours(24) - Freshness::kStep - seconds(1));
  EXPECT_LE(report.known, hours(24));
}

TEST(FreshnessTest, ADayWithoutALeaderIsMissedWhole) {
  WallTime now = kBegin;
  Freshness freshness(kObjective, now);
  note_for(freshness, now, minutes(10), true);
  const FreshnessReport report = freshness.report(now + hours(24 * 30)).value();
  EXPECT_EQ(report.missed, report.known);
  EXPECT_DOUBLE_EQ(report.share(), 0);
}

TEST(FreshnessTest, AClockThatGoesBackABitSaysNothing) {
  WallTime now = kBegin;
  Freshness freshness(kObjective, now);
  note_for(freshness, now, minutes(10), true);
  freshness.note(now - seconds(2), false);
  EXPECT_EQ(freshness.report(now).value().known, minutes(10));
  EXPECT_EQ(freshness.report(now).value().missed, seconds(0));
}

TEST(FreshnessTest, WhatIsMissedAfterTheClockWasPutBackCountsAsMissed) {
  WallTime now = kBegin;
  Freshness freshness(kObjective, now);
  note_for(freshness, now, minutes(10), true);
  now -= hours(1);
  EXPECT_EQ(freshness.report(now).value().known, minutes(10));
  note_for(freshness, now, minutes(10), false);
  const seconds jump(1);  // the note that finds the clock put back says nothing else
  EXPECT_EQ(freshness.report(now).value().known, minutes(20) - jump);
  EXPECT_NEAR(freshness.report(now).value().share(), 0.5, 0.01);
}

TEST(FreshnessTest, TheNextLeaderGoesOnAndTheTimeBetweenIsMissed) {
  WallTime now = kBegin;
  Freshness before(kObjective, now);
  note_for(before, now, minutes(60), true);
  note_for(before, now, minutes(1), false);
  now += minutes(2);
  Freshness after = Freshness::published(document_of(before), minutes(2), now).value();
  EXPECT_EQ(after.objective(), kObjective);
  note_for(after, now, minutes(7), true);
  EXPECT_EQ(after.report(now).value().known, minutes(70));
  EXPECT_EQ(after.report(now).value().missed, minutes(3) + seconds(1)) << "until its first note";
}

TEST(FreshnessTest, AnotherMachineMayHaveAnotherTimeOfDay) {
  for (const hours ahead : {hours(-3), hours(48)}) {
    WallTime now = kBegin;
    Freshness before(kObjective, now);
    note_for(before, now, minutes(50), false);
    note_for(before, now, minutes(50), true);
    now += ahead;
    Freshness after = Freshness::published(document_of(before), milliseconds(0), now).value();
    note_for(after, now, minutes(50), true);
    EXPECT_EQ(after.report(now).value().known, minutes(150));
    EXPECT_EQ(after.report(now).value().missed, minutes(50));
  }
}

TEST(FreshnessTest, WhatIsPublishedCanBeReadWhateverTheClocksSay) {
  WallTime now = kBegin;
  Freshness freshness(kObjective, now);
  for (int i = 1; i <= 20; ++i) {
    note_for(freshness, now, minutes(7), false);
    now += seconds(i % 2 == 0 ? -140 : 200);  // each leader has another clock
    freshness = Freshness::published(document_of(freshness), milliseconds(0), now).value();
  }
  EXPECT_DOUBLE_EQ(freshness.report(now).value().share(), 0);
}

TEST(FreshnessTest, AReportWithoutAnObjectiveHasNone) {
  EXPECT_FALSE(Freshness::published(status_document({}, 0), milliseconds(0), kBegin));
}

TEST(FreshnessTest, NotesThatNoLockstepHasWrittenAreAnErrorWithTheirPlace) {
  for (const char* slo : {"7", R"({"lag_ms":0,"since_ms":1,"until_ms":2,"missed_ms":{}})",
                          R"({"lag_ms":2000,"since_ms":3,"until_ms":2,"missed_ms":{}})",
                          R"({"lag_ms":2000,"since_ms":1,"until_ms":2,"missed_ms":{"7":600001}})",
                          R"({"lag_ms":2000,"since_ms":1,"until_ms":2,"missed_ms":{"seven":1}})",
                          R"({"lag_ms":2000,"since_ms":1,"missed_ms":{}})"}) {
    try {
      Freshness::published(std::string(R"({"slo":)") + slo + "}", milliseconds(0), kBegin);
      ADD_FAILURE() << slo;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("pipeline_status: its document.slo is ")) << slo;
    }
  }
}

class IsFreshTest : public testing::Test {
 protected:
  IsFreshTest() {
    progress_.state = PipelineState::kFollowing;
    progress_.lag_known_at = now_;
    progress_.indices[IndexId{1}].alias = "posts";
  }
  bool is_fresh() const { return lockstep::is_fresh(progress_, kObjective, now_); }
  void add_job(JobKind kind, seconds age) {
    progress_.indices[IndexId{1}].jobs.push_back({.id = JobId{1}, .kind = kind, .taken_up_at = now_ - age});
  }

  const SteadyTime now_ = SteadyTime(hours(10));
  ReplicationProgress progress_;
};

TEST_F(IsFreshTest, ALagUpToTheObjectiveIs) {
  progress_.lag = kObjective;
  EXPECT_TRUE(is_fresh());
  progress_.lag += std::chrono::microseconds(1);
  EXPECT_FALSE(is_fresh());
}

TEST_F(IsFreshTest, WhoDoesNotReplicateIsNot) {
  for (const PipelineState state :
       {PipelineState::kConnecting, PipelineState::kStandingBy, PipelineState::kWaitingForSource}) {
    progress_.state = state;
    EXPECT_FALSE(is_fresh()) << to_string(state);
  }
}

TEST_F(IsFreshTest, ALoopThatHangsIsNot) {
  progress_.lag_known_at = now_ - seconds(6);
  EXPECT_FALSE(is_fresh());
}

TEST_F(IsFreshTest, AnIndexThatIsNotFollowedIsNot) {
  progress_.indices[IndexId{1}].set_aside = true;
  EXPECT_FALSE(is_fresh());
  progress_.indices[IndexId{1}].set_aside = false;
  progress_.indices[IndexId{1}].unreadable_jobs = {JobId{7}};
  EXPECT_FALSE(is_fresh());
}

TEST_F(IsFreshTest, WhatIsDueForLongIsNotAndForAShortTimeIs) {
  IndexProgress& index = progress_.indices[IndexId{1}];
  index.due_known_at = now_;
  index.due = DueList{.index = {1}, .documents = 5, .oldest_age = seconds(1)};
  EXPECT_TRUE(is_fresh());
  index.due->oldest_age = seconds(3);
  EXPECT_FALSE(is_fresh());
}

TEST_F(IsFreshTest, ANewIndexThatIsFilledChangesNoDocument) {
  add_job(JobKind::kBackfill, hours(1));
  EXPECT_TRUE(is_fresh());
  add_job(JobKind::kComparison, hours(1));
  EXPECT_FALSE(is_fresh());
}

}  // namespace
}  // namespace lockstep
