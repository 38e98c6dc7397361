#include "replicator/cli/text/lock_text.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using std::chrono::milliseconds;

const ServerTime kNow(milliseconds(1'000'000));

TEST(LockTextTest, ALockHasALineForEachHolder) {
  const LockState lock{LockName("/a"),
                       LockMode::kShared,
                       3,
                       {{"one", kNow + milliseconds(2'500)}, {"two", kNow - milliseconds(100)}},
                       {{"w", kNow}}};
  EXPECT_EQ(lock_lines(lock, kNow),
            "/a  shared  one  until 1970-01-01T00:16:42.500Z (in 2.5 s)\n"
            "/a  shared  two  until 1970-01-01T00:16:39.900Z (0.1 s ago)\n"
            "/a  shared  1 without a name  without a lease\n"
            "/a  shared  waits: w  until 1970-01-01T00:16:40.000Z (in 0.0 s)\n");
  EXPECT_EQ(lock_lines({LockName("g"), LockMode::kExclusive, 1, {{"", std::nullopt}}}, kNow),
            "g  exclusive  unnamed  without a lease\n");
  EXPECT_EQ(lock_json_line({LockName("g\""), LockMode::kExclusive, 1, {{"123", std::nullopt}}}, kNow),
            R"({"record":"lock","now":"1970-01-01T00:16:40.000Z","name":"g\"","mode":"exclusive","count":1,)"
            R"("holders":[{"id":"123","until":null}],"waiting":[]})"
            "\n");
}

TEST(LockTextTest, AnOperationSaysWhatItDoesAndHowFarItIs) {
  Operation operation;
  operation.id = operation.owner = "web1-7-ab";
  operation.intent = {"mv", "/a", "/b", "fs"};
  operation.state = OperationState::kRunning;
  operation.token = 17;
  operation.progress = 4'711;
  operation.lease_until = kNow + milliseconds(1'000);
  EXPECT_EQ(
      operation_line(operation, kNow),
      "web1-7-ab  mv /a /b fs  running, token 17, 4,711 done  until 1970-01-01T00:16:41.000Z (in 1.0 s)\n");
  operation.owner = "heir";
  operation.reason = "why";
  operation.locks = {{LockName("/a"), LockMode::kShared}};
  EXPECT_EQ(operation_line(operation, kNow),
            "web1-7-ab  mv /a /b fs  running, token 17, 4,711 done, taken over by heir: why  until "
            "1970-01-01T00:16:41.000Z (in 1.0 s)\n");
  EXPECT_EQ(
      operation_json_line(operation, kNow),
      R"({"record":"operation","now":"1970-01-01T00:16:40.000Z","operation":"web1-7-ab","kind":"mv","from":"/a","to":"/b","target":"fs","state":"running",)"
      R"("owner":"heir","epoch":1,"until":"1970-01-01T00:16:41.000Z","token":17,"progress":4711,)"
      R"("reason":"why","locks":[{"name":"/a","mode":"shared"}]})"
      "\n");
}

}  // namespace
}  // namespace lockstep
