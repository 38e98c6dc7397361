#include "replicator/locks/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "replicator/locks/lock_manager.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(OperationTest, TimesAreUtcWithMilliseconds) {
  EXPECT_EQ(text_of(ServerTime(milliseconds(0))), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(text_of(ServerTime(milliseconds(1'795'268'800'050))), "2026-11-21T13:46:40.050Z");
}

TEST(OperationTest, IdsDifferAndNameTheProcess) {
  std::set<std::string> ids;
  for (int i = 0; i < 1'000; ++i) ids.insert(new_operation_id());
  EXPECT_EQ(ids.size(), 1'000u);
  EXPECT_THAT(*ids.begin(), HasSubstr("-" + std::to_string(::getpid()) + "-"));
}

TEST(OperationTest, StatesAreReadAsTheyAreWritten) {
  for (const OperationState state : {OperationState::kPending, OperationState::kRunning,
                                     OperationState::kDone, OperationState::kAborted}) {
    EXPECT_EQ(operation_state(text_of(state)), state);
  }
  EXPECT_EQ(operation_state("finished"), std::nullopt);
}

TEST(OperationTest, ARefusalSaysByWhomAndUntilWhen) {
  const ServerTime now(milliseconds(1'000'000));
  Refusal refusal{{LockName("/a"), LockMode::kExclusive, 1, {{"web1-7-ab", now + milliseconds(3'250)}}}, now};
  EXPECT_EQ(text_of(refusal),
            "/a is locked exclusively by web1-7-ab until 1970-01-01T00:16:43.250Z (3.2 s from now)");
  refusal.lock = {LockName("/a"), LockMode::kShared, 3, {{"b", now - milliseconds(1'500)}, {"c", now}}};
  EXPECT_EQ(text_of(refusal),
            "/a is shared by b, whose lease ran out 1.5 s ago, c until 1970-01-01T00:16:40.000Z (0.0 s from "
            "now), 1 without a name");
  refusal.lock = {LockName("/a"), LockMode::kExclusive, 1, {{"123", std::nullopt}}};
  EXPECT_EQ(text_of(refusal), "/a is locked exclusively by process 123 without a lease");
  refusal.lock = {LockName("/a"), LockMode::kShared, 0, {}, {{"w", now + milliseconds(100)}}};
  refusal.queued = true;
  EXPECT_EQ(text_of(refusal), "/a is kept for w until 1970-01-01T00:16:40.100Z (0.1 s from now)");
}

}  // namespace
}  // namespace lockstep
