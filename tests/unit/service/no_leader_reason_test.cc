#include "replicator/service/no_leader_reason.h"

#include <gtest/gtest.h>

#include "replicator/error.h"
#include "replicator/service/leader_report.h"

namespace lockstep {
namespace {

using std::chrono::seconds;

PipelineStatus reported(const std::string& state, const std::string& reason, seconds age) {
  PipelineStatus status;
  status.leader = LeaderReport{.state = state, .reason = reason, .host = "db1", .pid = 7, .age = age};
  return status;
}

TEST(NoLeaderReasonTest, WhoWaitsForAPipelineWithoutALeaderIsToldToStartOneOnlyIfNoneRuns) {
  const std::string start = "no process leads the pipeline: start `lockstep run`";
  EXPECT_EQ(no_leader_reason(std::nullopt), start);
  EXPECT_EQ(no_leader_reason(PipelineStatus{}), start);
  EXPECT_EQ(no_leader_reason(reported(kStoppedState, "", seconds(1))), start);
  EXPECT_EQ(no_leader_reason(reported("following", "", kSilentAfter + seconds(1))), start);
  EXPECT_EQ(no_leader_reason(reported("waiting_for_elasticsearch", "asking it: refused", seconds(1))),
            "no process leads the pipeline yet: db1, process 7, reported 1.0 s ago that it waits: asking it: "
            "refused");
  EXPECT_EQ(no_leader_reason(reported("following", "", seconds(1))),
            "no process leads the pipeline yet: db1, process 7, reported 1.0 s ago");
}

TEST(NoLeaderReasonTest, WhatKeepsEveryoneFromLeadingIsSaidWhetherOrNotAProcessRuns) {
  PipelineStatus status = reported(kStoppedState, "", seconds(1));
  status.obstacle = "no process can become leader: it is forbidden";
  EXPECT_EQ(no_leader_reason(status), status.obstacle);
  status.leader = std::nullopt;
  EXPECT_EQ(no_leader_reason(status), status.obstacle);
}

TEST(NoLeaderReasonTest, AStatusThatCannotBeReadDoesNotEndTheWait) {
  const auto away = []() -> std::unique_ptr<StatusReader> {
    throw Error({"reading the status", "no right"});
  };
  EXPECT_EQ(no_leader_reason(away),
            "no process leads the pipeline, and whether a process runs cannot be read: reading the status: "
            "no right");
}

TEST(NoLeaderReasonTest, WhoWaitsForALeaderIsToldWhatThatWaitsForOnlyWhileItRuns) {
  EXPECT_EQ(leader_waits(std::nullopt), "");
  EXPECT_EQ(leader_waits(reported("following", "", seconds(1))), "");
  EXPECT_EQ(leader_waits(reported("following", "a lock", seconds(1))), "a lock");
  EXPECT_EQ(leader_waits(reported("following", "a lock", kSilentAfter + seconds(1))), "");
  const auto away = []() -> std::unique_ptr<StatusReader> {
    throw Error({"reading the status", "no right"});
  };
  EXPECT_EQ(words_of_waits(away).leader_waits(), "its status cannot be read: reading the status: no right");
}

}  // namespace
}  // namespace lockstep
