#include "replicator/elasticsearch/bulk/bulk_response.h"

#include <gtest/gtest.h>

#include "replicator/elasticsearch/transport/error_reply.h"

namespace lockstep {
namespace {

using Kind = BulkReply::Kind;

const DocumentVersion kFirstVersion(Epoch{1}, 1);

BulkRequest one_index() {
  BulkRequest request;
  request.index("posts", {1, "a", ""}, kFirstVersion, "{}");
  return request;
}

BulkRequest one_delete() {
  BulkRequest request;
  request.remove("posts", {1, "a", ""}, kFirstVersion);
  return request;
}

BulkReply read(const BulkRequest& request, int status, const std::string& body) {
  return read_bulk_reply(request, {status, body});
}

std::string error(const std::string& type) {
  return R"(,"error":{"type":")" + type + R"(","reason":"why"})";
}

/// A row of the classification: one item's status and error, and what it means.
struct Row {
  const char* action;
  int status;
  const char* error_type;
  Outcome outcome;
};

class ItemClassification : public testing::TestWithParam<Row> {};

TEST_P(ItemClassification, IsByStatusAndType) {
  const Row& row = GetParam();
  const BulkRequest request = std::string(row.action) == "index" ? one_index() : one_delete();
  const std::string type = row.error_type;
  const std::string guard =
      request.needs_guard() ? R"(,{"index":{"_id":"lockstep-guard","status":409}})" : "";
  const std::string body = std::string(R"({"errors":true,"items":[{")") + row.action +
                           R"(":{"_id":"a","status":)" + std::to_string(row.status) +
                           (type.empty() ? "" : error(type)) + "}}" + guard + "]}";

  const BulkReply reply = read(request, 200, body);

  ASSERT_EQ(reply.kind, Kind::kItems) << reply.reason;
  ASSERT_EQ(reply.items.size(), 1u);
  EXPECT_EQ(reply.items[0].outcome, row.outcome) << body;
  EXPECT_EQ(reply.items[0].status, row.status);
  const bool explained = row.outcome == Outcome::kRefused || row.outcome == Outcome::kDoubtful ||
                         row.outcome == Outcome::kNotTaken;
  EXPECT_EQ(reply.items[0].type, explained ? type : "");
  EXPECT_EQ(reply.items[0].reason.empty(), !explained);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ItemClassification,
    testing::Values(Row{"index", 200, "", Outcome::kApplied}, Row{"index", 201, "", Outcome::kApplied},
                    Row{"delete", 200, "", Outcome::kApplied}, Row{"delete", 404, "", Outcome::kApplied},
                    Row{"index", 409, "version_conflict_engine_exception", Outcome::kSuperseded},
                    Row{"delete", 409, "version_conflict_engine_exception", Outcome::kSuperseded},
                    Row{"index", 409, "something_else", Outcome::kRefused},
                    Row{"index", 404, "index_not_found_exception", Outcome::kNotTaken},
                    Row{"delete", 404, "index_not_found_exception", Outcome::kNotTaken},
                    Row{"index", 400, "index_closed_exception", Outcome::kNotTaken},
                    Row{"index", 403, "cluster_block_exception", Outcome::kNotTaken},
                    Row{"index", 429, "cluster_block_exception", Outcome::kNotTaken},
                    Row{"index", 403, "security_exception", Outcome::kNotTaken},
                    Row{"index", 429, "es_rejected_execution_exception", Outcome::kNotTaken},
                    Row{"index", 429, "circuit_breaking_exception", Outcome::kNotTaken},
                    Row{"index", 503, "unavailable_shards_exception", Outcome::kNotTaken},
                    Row{"index", 500, "i_o_exception", Outcome::kNotTaken},
                    Row{"index", 400, "mapper_parsing_exception", Outcome::kRefused},
                    Row{"index", 400, "document_parsing_exception", Outcome::kRefused},
                    Row{"index", 400, "illegal_argument_exception", Outcome::kDoubtful},
                    Row{"index", 400, "strict_dynamic_mapping_exception", Outcome::kRefused},
                    Row{"index", 404, "something_else", Outcome::kRefused}));

TEST(BulkReply, AMissingAliasNamesTheRemedy) {
  const BulkReply reply = read(one_index(), 200,
                               R"({"errors":true,"items":[{"index":{"_id":"a","status":404)" +
                                   error("index_not_found_exception") + "}}]}");
  EXPECT_NE(reply.items.at(0).reason.find("lockstep apply"), std::string::npos) << reply.items[0].reason;
}

TEST(BulkReply, KeepsReasonWithItsInnermostCauseInOneLine) {
  const BulkReply reply = read(
      one_index(), 200,
      R"({"errors":true,"items":[{"index":{"_id":"a","status":400,"error":{"type":"mapper_parsing_exception",)"
      R"("reason":"failed to parse field [n]","caused_by":{"type":"x","reason":"outer",)"
      R"("caused_by":{"type":"y","reason":"For input \"a\n\u0000b\""}}}}}]})");
  ASSERT_EQ(reply.kind, Kind::kItems) << reply.reason;
  EXPECT_EQ(reply.items.at(0).type, "mapper_parsing_exception");
  EXPECT_EQ(reply.items.at(0).reason, R"(failed to parse field [n]: For input "a b")");
}

TEST(BulkReply, ReasonsNeverShowTheRequestsHeaders) {
  const std::string request_text =
      R"([Source: (byte[])\"POST /_bulk HTTP/1.1\r\nAuthorization: Basic c2VjcmV0\r\n\r\n{\"; line: 1, column: 7])";
  const std::string cause =
      R"({"type":"json_parse_exception","reason":"bad )" + request_text + " at " + request_text + R"("})";
  const BulkReply item =
      read(one_index(), 200,
           R"({"errors":true,"items":[{"index":{"_id":"a","status":400,"error":)" + cause + "}}]}");
  ASSERT_EQ(item.kind, Kind::kItems) << item.reason;
  EXPECT_EQ(item.items.at(0).reason,
            "bad [Source: (request); line: 1, column: 7] at [Source: (request); line: 1, column: 7]");
  const BulkReply whole = read(one_index(), 400, R"({"error":)" + cause + "}");
  EXPECT_EQ(whole.reason, item.items[0].reason);
}

TEST(BulkReply, TheGuardIsLookedForAndHasNoResult) {
  const BulkRequest request = one_delete();
  ASSERT_TRUE(request.needs_guard());
  const std::string guard =
      R"({"index":{"_id":"lockstep-guard","status":409)" + error("version_conflict_engine_exception") + "}}";
  const std::string deleted = R"({"delete":{"_id":"a","status":404}})";
  const BulkReply reply = read(request, 200, R"({"errors":true,"items":[)" + deleted + "," + guard + "]}");
  ASSERT_EQ(reply.kind, Kind::kItems) << reply.reason;
  ASSERT_EQ(reply.items.size(), 1u);
  EXPECT_EQ(reply.items[0].outcome, Outcome::kApplied);
  EXPECT_EQ(read(request, 200, R"({"errors":true,"items":[)" + deleted + "]}").kind, Kind::kRetry);
  const std::string two = guard + "," + guard;
  EXPECT_EQ(read(request, 200, R"({"errors":true,"items":[)" + deleted + "," + two + "]}").kind,
            Kind::kRetry);
}

TEST(BulkReply, ReasonsAreShortenedBetweenCharacters) {
  const std::string text = shortened(std::string(1'999, 'x') + "éé", kMaxReasonBytes);
  EXPECT_LE(text.size(), kMaxReasonBytes);
  EXPECT_EQ(text, std::string(1'997, 'x') + "…");
  EXPECT_EQ(shortened("aéb", 4), "aéb");
  EXPECT_EQ(shortened("éééé", 6), "é…");
}

TEST(BulkReply, WithoutErrorsEveryItemIsApplied) {
  BulkRequest request = one_index();
  request.remove("posts", {1, "b", ""}, kFirstVersion);
  const BulkReply reply = read(
      request, 200,
      R"({"errors":false,"items":[{"index":{"_id":"a","status":201}},{"delete":{"_id":"b","status":404}}]})");
  ASSERT_EQ(reply.kind, Kind::kItems);
  ASSERT_EQ(reply.items.size(), 2u);
  EXPECT_EQ(reply.items[1].outcome, Outcome::kApplied);
}

class Misfit : public testing::TestWithParam<const char*> {};

TEST_P(Misfit, IsNoOutcomeButARetry) {
  BulkRequest request = one_index();
  request.index("posts", {1, "b", ""}, kFirstVersion, "{}");
  const BulkReply reply = read(request, 200, GetParam());
  EXPECT_EQ(reply.kind, Kind::kRetry);
  EXPECT_TRUE(reply.items.empty());
  EXPECT_FALSE(reply.reason.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Replies, Misfit,
    testing::Values(
        "", "<html>ok</html>", "null", "[]", "{}", R"({"errors":false})", R"({"items":[]})",
        // too few, too many
        R"({"errors":false,"items":[{"index":{"_id":"a","status":200}}]})",
        R"({"errors":false,"items":[{"index":{}},{"index":{}},{"index":{}}]})",
        R"({"errors":true,"items":[{"index":{"_id":"a","status":200}}]})",
        // another order, another action, no status, a status out of range
        R"({"errors":true,"items":[{"index":{"_id":"b","status":200}},{"index":{"_id":"a","status":400}}]})",
        R"({"errors":true,"items":[{"index":{"_id":"a","status":200}},{"delete":{"_id":"b","status":404}}]})",
        R"({"errors":true,"items":[{"index":{"_id":"a","status":200}},{"index":{"_id":"b"}}]})",
        R"({"errors":true,"items":[{"index":{"_id":"a","status":200}},{"index":{"_id":"b","status":0}}]})",
        // cut off
        R"({"errors":true,"items":[{"index":{"_id":"a","status":200}},{"index":{"_id":"b","sta)",
        R"({"errors":false,"items":[{"index":{"_id":"a","status":200}},{"index":{"_id":"b","status":200}})"));

TEST(BulkReply, EveryCutOfAReplyIsARetry) {
  const BulkRequest request = one_index();
  const std::string body =
      R"({"errors":true,"items":[{"index":{"_id":"a","status":400)" + error("x") + "}}]}";
  for (std::size_t length = 0; length < body.size(); ++length) {
    EXPECT_EQ(read(request, 200, body.substr(0, length)).kind, Kind::kRetry) << length;
  }
  EXPECT_EQ(read(request, 200, body).kind, Kind::kItems);
}

TEST(BulkReply, AnIdIsComparedAsTextNotAsItsEscapes) {
  BulkRequest request;
  request.index("posts", {1, "a\"\n/東", ""}, kFirstVersion, "{}");
  const BulkReply reply =
      read(request, 200, R"({"errors":true,"items":[{"index":{"_id":"a\"\n\/\u6771","status":200}}]})");
  EXPECT_EQ(reply.kind, Kind::kItems) << reply.reason;
}

struct WholeRow {
  int status;
  const char* body;
  Kind kind;
  const char* type;
};

class WholeRequest : public testing::TestWithParam<WholeRow> {};

TEST_P(WholeRequest, IsByStatusAndType) {
  const WholeRow& row = GetParam();
  const BulkReply reply = read(one_index(), row.status, row.body);
  EXPECT_EQ(reply.kind, row.kind);
  EXPECT_EQ(reply.type, row.type);
  EXPECT_EQ(reply.status, row.status);
  EXPECT_FALSE(reply.reason.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Rows, WholeRequest,
    testing::Values(
        WholeRow{413, "", Kind::kTooLarge, "content_too_large"},
        WholeRow{413, "<html>413</html>", Kind::kTooLarge, "content_too_large"},
        WholeRow{400, R"({"error":{"type":"illegal_argument_exception","reason":"r"},"status":400})",
                 Kind::kRejected, "illegal_argument_exception"},
        WholeRow{400, "<html>plain HTTP to an HTTPS port</html>", Kind::kRetry, ""},
        WholeRow{400, "", Kind::kRetry, ""},
        WholeRow{401, R"({"error":{"type":"security_exception","reason":"r"},"status":401})", Kind::kRetry,
                 "security_exception"},
        WholeRow{403, R"({"error":{"type":"security_exception","reason":"r"},"status":403})", Kind::kRetry,
                 "security_exception"},
        WholeRow{404, R"({"error":{"type":"index_not_found_exception","reason":"r"},"status":404})",
                 Kind::kRetry, "index_not_found_exception"},
        WholeRow{404, "not here", Kind::kRetry, ""}, WholeRow{405, R"({"error":"no"})", Kind::kRetry, ""},
        WholeRow{429, R"({"error":{"type":"es_rejected_execution_exception","reason":"r"}})",
                 Kind::kOverloaded, "es_rejected_execution_exception"},
        WholeRow{302, "", Kind::kRetry, ""}, WholeRow{502, "<h1>Bad Gateway</h1>", Kind::kRetry, ""},
        WholeRow{503, R"({"error":{"type":"cluster_block_exception","reason":"r"}})", Kind::kOverloaded,
                 "cluster_block_exception"}));

TEST(BulkReply, AProxysPageBecomesOneShortPlainLine) {
  const BulkReply reply = read(one_index(), 502, "<html>\r\n\xE9" + std::string(5'000, 'x'));
  EXPECT_LT(reply.reason.size(), 300u);
  EXPECT_EQ(reply.reason.find('\n'), std::string::npos);
  EXPECT_EQ(reply.reason.find('\xE9'), std::string::npos);
}

// It was asked for again for ever.
TEST(BulkResponse, AReplyThatQuotesHalfOfASurrogatePairIsRead) {
  BulkRequest request;
  request.index("posts", {1, "a", ""}, DocumentVersion(Epoch{1}, 1), "{}");
  const BulkReply reply = read_bulk_reply(
      request, {200, R"({"errors":true,"items":[{"index":{"_id":"a","status":400,"error":{"type":)"
                     R"("mapper_parsing_exception","reason":"Preview of field's value: '\uD800 x'"}}}]})"});
  ASSERT_EQ(reply.kind, Kind::kItems);
  EXPECT_EQ(reply.items.at(0).outcome, Outcome::kRefused);
  EXPECT_EQ(reply.items.at(0).reason, "Preview of field's value: '\uFFFD x'");
}

}  // namespace
}  // namespace lockstep
