#include "replicator/elasticsearch/transport/error_reply.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace {

TEST(ErrorReplyTest, OnlyTimeOutsOverloadAndTheServersOwnFaultsMayWorkLater) {
  for (const int status : {408, 429, 500, 502, 503, 504}) EXPECT_TRUE(may_work_later(status)) << status;
  for (const int status : {0, 200, 400, 401, 403, 404, 409, 413, 499})
    EXPECT_FALSE(may_work_later(status)) << status;
}

TEST(ErrorReplyTest, AReasonThatQuotesADocumentStaysInOneLine) {
  const ErrorCause cause =
      read_error_reply(R"({"error": {"type": "t", "reason": " failed\r\n\tto parse \u0000 [a]\n"}})");
  EXPECT_EQ(cause.type, "t");
  EXPECT_EQ(cause.reason, "failed to parse [a]");
}

TEST(ErrorReplyTest, WhatIsSaidOfADocumentHasNoneOfItsValues) {
  const auto said = [](const char* reason) { return without_values("t", reason); };
  EXPECT_EQ(said("failed to parse field [age] of type [long] in document with id 'a'. Preview of field's "
                 "value: 'x'"),
            "t: failed to parse field [age] of type [long]");
  EXPECT_EQ(
      said(
          "[1:9] failed to parse field [a] of type [date] in document with id 'a': failed to parse date [x]"),
      "t: failed to parse field [a] of type [date]");
  EXPECT_EQ(
      said("object mapping for [user] tried to parse field [user] as object, but found a concrete value"),
      "t: object mapping for [user]");
  EXPECT_EQ(said("mapping set to strict, dynamic introduction of [a] within [_doc] is not allowed"),
            "t: mapping set to strict, dynamic introduction of [a] within [_doc]");
  EXPECT_EQ(said("Limit of total fields [1000] has been exceeded"),
            "t: Limit of total fields [1000] has been exceeded");
  EXPECT_EQ(said("For input string: \"x\""), "t");
}

// A firewall answers 403 with the request's own body. Log, status and /readyz had the row's values.
TEST(ErrorReplyTest, AProxyThatQuotesTheRequestIsNotQuoted) {
  for (const std::string body :
       {"{\"index\":{\"_id\":\"1\"}}\n{\"name\":\"SECRETVALUE\"}\n", "{\"name\":\"SECRETVALUE\"}",
        "{\"error\":\"SECRETVALUE\"}", "{\"error\":{\"message\":\"x\",\"reason\":\"SECRETVALUE\"}}",
        "<html>blocked: SECRETVALUE</html>", "blocked: SECRETVALUE", "[\"SECRETVALUE\"]",
        "\xE9 SECRETVALUE"}) {
    const ErrorCause cause = read_error_reply(body);
    EXPECT_EQ(cause.type, "") << body;
    EXPECT_EQ(cause.reason.find("SECRETVALUE"), std::string::npos) << cause.reason;
    EXPECT_EQ(cause.reason.find(std::to_string(body.size()) + " bytes of "), 0u) << cause.reason;
  }
  EXPECT_EQ(read_error_reply(R"({"message": "The request signature we calculated does not match."})").reason,
            "The request signature we calculated does not match.");
  EXPECT_EQ(read_error_reply(R"({"message": "SECRETVALUE"})").reason,
            "26 bytes of JSON instead of an error of Elasticsearch");
  EXPECT_EQ(read_error_reply("<html>").reason, "6 bytes of HTML instead of an error of Elasticsearch");
  EXPECT_EQ(read_error_reply("Unauthorized").reason, "12 bytes of text instead of an error of Elasticsearch");
  EXPECT_EQ(read_error_reply("[]").reason, "2 bytes of JSON instead of an error of Elasticsearch");
  EXPECT_EQ(read_error_reply("").reason, "");
}

// "… read-only-allow-delete block];; free disk space"
TEST(ErrorReplyTest, NoSemicolonStandsBehindABlockBesideTheOneBeforeTheAdvice) {
  const ErrorCause cause = read_error_reply(
      R"({"error": {"type": "cluster_block_exception", "reason": "index [a] blocked by: [FORBIDDEN/8/b];"}})");
  EXPECT_EQ(cause.reason, "index [a] blocked by: [FORBIDDEN/8/b]");
}

TEST(ErrorReplyTest, TheAdviceNamesTheBlockThatIsSet) {
  const auto remedy = [](const std::string& blocks) {
    return remedy_of_blocks("index [posts-000001] blocked by: " + blocks);
  };
  EXPECT_EQ(remedy("[FORBIDDEN/5/index read-only (api)];"), "set index.blocks.read_only to null");
  EXPECT_EQ(remedy("[FORBIDDEN/8/index write (api)];"), "set index.blocks.write to null");
  EXPECT_EQ(remedy("[FORBIDDEN/9/index metadata (api)];"), "set index.blocks.metadata to null");
  EXPECT_EQ(remedy("[FORBIDDEN/4/index closed];"), "open the index");
  const std::string full =
      "free disk space; the block then ends by itself, or set index.blocks.read_only_allow_delete to null";
  EXPECT_EQ(remedy("[FORBIDDEN/12/index read-only / allow delete (api)];"), full);
  EXPECT_EQ(remedy("[TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has "
                   "read-only-allow-delete block];"),
            full);
  EXPECT_EQ(remedy("[FORBIDDEN/6/cluster read-only (api)];"),
            "set cluster.blocks.read_only to null in the cluster's settings");
  EXPECT_EQ(remedy("[FORBIDDEN/13/cluster read-only / allow delete (api)];"),
            "set cluster.blocks.read_only_allow_delete to null in the cluster's settings");
  EXPECT_EQ(remedy("[FORBIDDEN/8/index write (api)];[FORBIDDEN/5/index read-only (api)];"),
            "set index.blocks.write to null; set index.blocks.read_only to null");
  EXPECT_EQ(remedy("[FORBIDDEN/77/new]; [FORBIDDEN/78/newer];"), "remove the block that it names");
  EXPECT_EQ(remedy_of_blocks("r"), "remove the block of the index or the cluster");
}

TEST(ErrorReplyTest, ARejectedRequestIsNotQuoted) {
  EXPECT_EQ(without_request(
                "rejected execution of processing of [1][indices:data/write/bulk[s][p]]: request: "
                "BulkShardRequest [[a][0]] containing [index {[a][_doc][1], source[{\"x\":\"y\"}]}], target"),
            "rejected execution of processing of [1][indices:data/write/bulk[s][p]]");
  EXPECT_EQ(without_request("[a][0] primary shard is not active Timeout: [1m], request: [BulkShardRequest x"),
            "[a][0] primary shard is not active Timeout: [1m]");
  EXPECT_EQ(without_request("index is read-only"), "index is read-only");
}

}  // namespace
}  // namespace lockstep
