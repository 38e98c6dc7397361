#include "replicator/source/awaited_work.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

UnfinishedWork job(int id) {
  return {.job = JobId{id}, .what = "backfill of posts, 1 document so far"};
}

// "… so far, and 2 more", of which nobody knew what they are.
TEST(AwaitedWorkTest, WhatElseIsUnfinishedIsNamed) {
  const std::string begin = "not all is written yet: backfill of posts, 1 document so far";
  EXPECT_EQ(AwaitedWork().look({job(1)}).reason, begin);
  EXPECT_EQ(AwaitedWork().look({job(1), job(2)}).reason, begin + ", and 1 other job or due list");
  EXPECT_EQ(AwaitedWork().look({job(1), job(2), job(3)}).reason, begin + ", and 2 other jobs and due lists");
}

}  // namespace
}  // namespace lockstep
