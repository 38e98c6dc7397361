// What a source stores of a job: kinds and positions as texts, the same in every source.
#include "replicator/source/outbox/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "replicator/error.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr JobId kJob{4711};
constexpr JobKind kKinds[] = {JobKind::kBackfill, JobKind::kComparison, JobKind::kSweep};

std::string complaint_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_round_trip(const JobPosition& position, JobKind kind) {
  EXPECT_EQ(job_position(to_text(position), kind, kJob), position) << name_of(kind);
}

TEST(JobTest, EachKindHasItsStoredName) {
  EXPECT_EQ(name_of(JobKind::kBackfill), "backfill");
  EXPECT_EQ(name_of(JobKind::kComparison), "comparison");
  EXPECT_EQ(name_of(JobKind::kSweep), "sweep");
  for (const JobKind kind : kKinds) EXPECT_EQ(job_kind(std::string(name_of(kind)), kJob), kind);
}

TEST(JobTest, AnUnknownKindThrowsNamingKindAndJob) {
  for (const char* kind : {"Sweep", "sweeps", "fan_out", "rename"}) {
    EXPECT_THAT(complaint_of([&] { job_kind(kind, kJob); }),
                AllOf(HasSubstr("4711"), HasSubstr("\"" + std::string(kind) + "\"")));
  }
  for (const std::optional<std::string>& none :
       {std::optional<std::string>(), std::optional<std::string>("")})
    EXPECT_THAT(complaint_of([&] { job_kind(none, kJob); }), HasSubstr("job 4711: it has no kind"));
}

TEST(JobTest, PositionsHaveTheirStoredTexts) {
  EXPECT_EQ(to_text(NotBegun{}), std::nullopt);
  EXPECT_EQ(to_text(Begun{}), "");
  EXPECT_EQ(to_text(AfterDocument{{"shop 7"}}), "shop 7");
  EXPECT_EQ(to_text(Scanning{}), "scanning");
}

TEST(JobTest, EveryKindIsNotBegunAndBegun) {
  for (const JobKind kind : kKinds) {
    expect_round_trip(NotBegun{}, kind);
    expect_round_trip(Begun{}, kind);
  }
}

TEST(JobTest, EachKindReadsItsOwnPosition) {
  for (const char* id : {"7", "scanning", "a/b \"c\""}) {
    expect_round_trip(AfterDocument{{id}}, JobKind::kBackfill);
    expect_round_trip(AfterDocument{{id}}, JobKind::kComparison);
  }
  expect_round_trip(Scanning{}, JobKind::kSweep);
}

TEST(JobTest, AnUnknownPositionThrowsNamingPositionAndJob) {
  for (const char* text : {"12", "Scanning", " "}) {
    EXPECT_THAT(complaint_of([&] { job_position(text, JobKind::kSweep, kJob); }),
                AllOf(HasSubstr("4711"), HasSubstr("\"" + std::string(text) + "\"")));
  }
}

}  // namespace
}  // namespace lockstep
