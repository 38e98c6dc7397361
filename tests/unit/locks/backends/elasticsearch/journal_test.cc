// What the journal does when an answer is lost or a request is refused.
#include "replicator/locks/backends/elasticsearch/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "replicator/locks/backends/elasticsearch/bulk_call.h"
#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

HttpResponse written(int seq_no) {
  return {200, R"({"result": "updated", "_seq_no": )" + std::to_string(seq_no) +
                   R"(, "_primary_term": 1, "get": {"_source": {"lease_until": 5000}}})"};
}

HttpResponse drawn(int token) {
  return {200, R"({"result": "updated", "get": {"_source": {"last": )" + std::to_string(token) + "}}}"};
}

HttpResponse entry(int seq_no, const std::string& state, const std::string& owner, int epoch = 1,
                   int token = 0) {
  return {200, R"({"found": true, "_seq_no": )" + std::to_string(seq_no) +
                   R"(, "_primary_term": 1, "_source": {"kind": "mv", "state": ")" + state +
                   R"(", "owner": ")" + owner + R"(", "epoch": )" + std::to_string(epoch) +
                   R"(, "lease_until": 7000, "locks": {})" +
                   (token == 0 ? "" : R"(, "token": )" + std::to_string(token)) + "}}"};
}

const HttpResponse kConflict{409,
                             R"({"error": {"type": "version_conflict_engine_exception"}, "status": 409})"};

class JournalTest : public testing::Test {
 protected:
  Operation pending() {
    Operation operation;
    operation.id = operation.owner = "me";
    operation.intent.kind = "mv";
    operation.version = {10, 1};
    return operation;
  }

  void commit(Operation& operation) {
    Operation changed = operation;
    changed.state = OperationState::kRunning;
    journal_.step(operation, changed);
  }

  Script script_;
  ElasticsearchClient client_ = client_of(script_);
  ElasticsearchJournal journal_{client_, "j", Painless::kHere, std::chrono::seconds(10)};
};

TEST_F(JournalTest, ACommitHasTheTokenThatWasDrawnForItAndItsOwnNumber) {
  script_.answers = {drawn(1'000), written(11)};
  Operation operation = pending();
  commit(operation);
  EXPECT_EQ(operation.token, 1'000);
  EXPECT_EQ(operation.commit, 11);
  EXPECT_EQ(operation.version, (JournalVersion{11, 1}));
  EXPECT_EQ(operation.lease_until, ServerTime(std::chrono::seconds(5)));
  EXPECT_THAT(script_.requests.at(1).path, HasSubstr("if_seq_no=10&if_primary_term=1"));
  EXPECT_THAT(script_.requests.at(1).body, HasSubstr("\"token\":1000"));
}

TEST_F(JournalTest, ACommitWhoseAnswerWasLostIsFoundAgainWithItsToken) {
  Operation operation = pending();
  script_.answers = {drawn(1'000)};
  EXPECT_THROW(commit(operation), Error) << "no answer";
  EXPECT_EQ(operation.state, OperationState::kPending);
  script_.answers = {drawn(1'001), kConflict, entry(11, "running", "me", 1, 1'000)};
  commit(operation);
  EXPECT_EQ(operation.token, 1'000);
  EXPECT_EQ(operation.commit, 11);
  EXPECT_EQ(operation.state, OperationState::kRunning);
  EXPECT_EQ(operation.lease_until, ServerTime(std::chrono::seconds(7)));
}

TEST_F(JournalTest, AHeartbeatWhoseAnswerWasLostIsRepeatedUnderTheNewNumber) {
  Operation operation = pending();
  script_.answers = {kConflict, entry(12, "pending", "me"), written(13)};
  journal_.step(operation, operation);
  EXPECT_EQ(operation.version, (JournalVersion{13, 1}));
  EXPECT_THAT(script_.requests.at(2).path, HasSubstr("if_seq_no=12&"));
  EXPECT_EQ(operation.token, 0);
}

TEST_F(JournalTest, AnEntryOfAnotherOwnerEpochOrEndMeansThatTheLeaseIsLost) {
  const std::vector<std::pair<HttpResponse, bool>> entries = {{entry(12, "running", "other", 2), false},
                                                              {entry(12, "running", "me", 2), false},
                                                              {entry(12, "aborted", "other"), true},
                                                              {entry(12, "aborted", "me"), true},
                                                              {{404, R"({"found": false})"}, true}};
  for (const auto& [reply, over] : entries) {
    Operation operation = pending();
    script_.answers = {drawn(1'000), kConflict, reply};
    try {
      commit(operation);
      ADD_FAILURE() << reply.body;
    } catch (const LeaseLost& lost) {
      EXPECT_EQ(lost.over(), over) << reply.body;
    }
  }
}

TEST_F(JournalTest, WhoLosesTheRaceForADeadOneIsToldToAskAgain) {
  Operation found = pending();
  script_.answers = {drawn(1'000), kConflict};
  EXPECT_THROW((void)journal_.seize(found, "me too", Adoption::kAllowed), LeaseLost);
}

TEST_F(JournalTest, AnAdopterKeepsTheOrderOfTheCommitAndHasATokenOfItsOwn) {
  Operation found = pending();
  found.state = OperationState::kRunning;
  found.commit = 10;
  script_.answers = {drawn(1'000),
                     {200, R"({"result": "updated", "_seq_no": 20, "_primary_term": 1, "get": {"_source":
      {"kind": "mv", "state": "running", "owner": "heir", "epoch": 2, "token": 900, "lease_until": 9000,
       "locks": {"exclusive": ["/a"]}}}})"},
                     written(21)};
  Resolution resolution = journal_.seize(found, "heir", Adoption::kAllowed);
  ASSERT_EQ(resolution.kind, Resolution::Kind::kAdopted);
  Operation& operation = *resolution.operation;
  EXPECT_EQ(operation.token, 1'000);
  EXPECT_EQ(operation.commit, 10);
  journal_.step(operation, operation);
  EXPECT_EQ(operation.token, 1'000) << "a heartbeat is no adoption";
  EXPECT_THAT(script_.requests.back().body, HasSubstr("\"commit\":10"));
}

TEST_F(JournalTest, AnAnswerOfANewerScriptIsAnErrorAndNoAdoption) {
  Operation found = pending();
  found.state = OperationState::kRunning;
  script_.answers = {drawn(1'000),
                     {200, R"({"result": "noop", "_seq_no": 10, "_primary_term": 1, "get": {"_source":
      {"kind": "mv", "state": "running", "owner": "me", "epoch": 1, "locks": {}, "answer": "paused",
       "lease_until": 9000}}})"}};
  try {
    (void)journal_.seize(found, "heir", Adoption::kAllowed);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("the operation me"), HasSubstr("\"paused\"")));
  }
}

TEST_F(JournalTest, AnAnswerThatIsNoTextIsNoAdoption) {
  Operation found = pending();
  found.state = OperationState::kRunning;
  script_.answers = {drawn(1'000),
                     {200, R"({"result": "noop", "_seq_no": 10, "_primary_term": 1, "get": {"_source":
      {"kind": "mv", "state": "running", "owner": "me", "epoch": 1, "locks": {}, "answer": ["alive"],
       "lease_until": 9000}}})"}};
  try {
    (void)journal_.seize(found, "heir", Adoption::kAllowed);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("the operation me"), HasSubstr("its answer is [\"alive\"]")));
  }
}

TEST_F(JournalTest, ALeaseThatCannotBeReadIsNotOver) {
  for (const char* lease : {R"("soon")", "null", "{}"}) {
    script_.answers = {{200, R"({"result": "updated", "_seq_no": 11, "_primary_term": 1,
        "get": {"_source": {"lease_until": )" +
                                 std::string(lease) + "}}}"}};
    Operation operation = pending();
    try {
      journal_.open(operation);
      FAIL() << lease;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("the operation me"), HasSubstr("lease_until"))) << lease;
    }
  }
}

// Elasticsearch 7 answers 400 when too many scripts are compiled at once.
TEST(BulkCallTest, TheLimitOfCompiledScriptsMayWorkLater) {
  const std::string error =
      R"({"type": "illegal_argument_exception", "reason": "failed to execute script", "caused_by":
          {"type": "circuit_breaking_exception", "reason": "[script] Too many dynamic script compilations"}})";
  Script script{{{200, R"({"items": [{"update": {"status": 400, "error": )" + error + "}}]}"},
                 {400, R"({"status": 400, "error": )" + error + "}"}},
                {}};
  ElasticsearchClient client = client_of(script);
  BulkCall bulk("locks");
  bulk.add("update", "/", nlohmann::json::object(), nlohmann::json::object());
  for (const auto& request :
       {std::function<void()>([&] { (void)bulk.send(client, "taking locks"); }),
        std::function<void()>([&] { client.send("opening", "POST", "/j/_update/1"); })}) {
    try {
      request();
      FAIL();
    } catch (const Error& failure) {
      EXPECT_TRUE(failure.retryable());
      EXPECT_THAT(failure.what(), HasSubstr("Too many dynamic script compilations"));
    }
  }
}

TEST(BulkCallTest, AnItemThatTimedOutMayWorkLater) {
  for (const int status : {0, 400, 403, 408, 429, 503}) {
    Script script{{{200, R"({"items": [{"update": {"status": )" + std::to_string(status) +
                             R"(, "error": {"type": "t", "reason": "r"}}}]})"}},
                  {}};
    ElasticsearchClient client = client_of(script);
    BulkCall bulk("locks");
    bulk.add("update", "/", nlohmann::json::object(), nlohmann::json::object());
    try {
      (void)bulk.send(client, "taking locks");
      FAIL() << status;
    } catch (const Error& error) {
      EXPECT_EQ(error.retryable(), status != 400 && status != 403) << status;
    }
  }
}

}  // namespace
}  // namespace lockstep
