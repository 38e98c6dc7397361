// The instruments of the other tests are trusted because they are tested here: a recorder that never
// complains proves nothing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/bulk_history.h"
#include "tests/support/canonical_json.h"
#include "tests/support/documents.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/recording_proxy.h"

namespace lockstep::support {
namespace {

using Json = nlohmann::json;

// A bulk request of one operation on document "1", and its reply.
void play(BulkHistory& history, std::int64_t version, std::int64_t seq_no, const std::string& document,
          int status = 200) {
  const Json action{{"index", {{"_id", "1"}, {"version", version}, {"version_type", "external_gte"}}}};
  const HttpMessage request{"POST /a/_bulk HTTP/1.1", {}, action.dump() + "\n" + document + "\n"};
  Json item{{"_index", "a-000001"}, {"_id", "1"}, {"status", status}, {"_seq_no", seq_no}};
  if (status > 299) item["error"] = {{"type", "version_conflict_engine_exception"}};
  const HttpMessage reply{
      "HTTP/1.1 200 OK", {}, Json{{"errors", false}, {"items", {{{"index", item}}}}}.dump()};
  history.end(history.begin(request), &reply);
}

RowCounters revision(std::string_view document) {
  return {{"row", Json::parse(document).at("revision")}};
}

TEST(BulkHistory, AcceptsVersionsAndContentsThatRise) {
  BulkHistory history(revision);
  play(history, 5, 0, R"({"revision": 1})");
  play(history, 5, 1, R"({"revision": 1})");
  play(history, 6, 2, R"({"revision": 2})");
  EXPECT_TRUE(history.violations().empty());
}

TEST(BulkHistory, FindsAVersionThatFalls) {
  BulkHistory history;
  play(history, 6, 0, R"({})");
  play(history, 5, 1, R"({})");
  ASSERT_EQ(history.violations().size(), 1U);
  EXPECT_NE(history.violations()[0].find("version 5 was applied over 6"), std::string::npos);
}

TEST(BulkHistory, FindsAContentThatGoesBackUnderARisingVersion) {
  BulkHistory history(revision);
  play(history, 5, 0, R"({"revision": 9})");
  play(history, 6, 1, R"({"revision": 8})");
  ASSERT_EQ(history.violations().size(), 1U);
  EXPECT_NE(history.violations()[0].find("row at 8 after 9"), std::string::npos);
}

TEST(BulkHistory, FindsTwoContentsUnderOneVersion) {
  BulkHistory history;
  play(history, 5, 0, R"({"a": 1})");
  play(history, 5, 1, R"({"a": 2})");
  EXPECT_EQ(history.violations().size(), 1U);
}

TEST(BulkHistory, FindsAnOperationWithoutAVersion) {
  BulkHistory history;
  history.begin({"POST /a/_bulk HTTP/1.1", {}, "{\"index\":{\"_id\":\"1\"}}\n{}\n"});
  EXPECT_EQ(history.violations().size(), 1U);
}

TEST(BulkHistory, GoesByTheOrderOfApplicationNotOfReplies) {
  BulkHistory history;
  play(history, 6, 1, R"({"a": 1})");
  play(history, 5, 0, R"({"a": 1})");
  EXPECT_TRUE(history.violations().empty());
}

TEST(BulkHistory, DoesNotCountWhatElasticsearchRefusedAsTooOld) {
  BulkHistory history;
  play(history, 6, 0, R"({})");
  play(history, 5, 1, R"({})", 409);
  EXPECT_TRUE(history.violations().empty());
  EXPECT_EQ(history.superseded(), 1);
  EXPECT_EQ(history.applied(), 1);
}

TEST(BulkHistory, FindsThatItCannotSeeTheOrder) {
  BulkHistory history;
  play(history, 6, -1, R"({})");
  EXPECT_EQ(history.violations().size(), 1U);
}

TEST(BulkHistory, FindsTwoOperationsInFlightOnOneDocument) {
  BulkHistory history;
  const std::string action = R"({"delete":{"_id":"1","version":1,"version_type":"external_gte"}})";
  history.begin({"POST /a/_bulk HTTP/1.1", {}, action + "\n"});
  EXPECT_TRUE(history.overlaps().empty());
  history.begin({"POST /a/_bulk HTTP/1.1", {}, action + "\n"});
  EXPECT_EQ(history.overlaps().size(), 1U);
}

TEST(CanonicalJson, KeepsEveryDigitAndDropsOnlyWhiteSpace) {
  EXPECT_EQ(
      canonical_json("{ \"a\" : [1.10, 123456789012345678901234567890, 1e2 ,-0.0],\n\"b\": \"x y\\u00e9\" }"),
      "{\"a\":[1.10,123456789012345678901234567890,1e2,-0.0],\"b\":\"x yé\"}");
}

TEST(Difference, NamesWhatIsMissingSurplusAndDifferent) {
  const ExpectedDocuments view{{{"1"}, "{}"}, {{"2"}, R"({"a":1})"}};
  const StoredDocuments index{{{"2"}, {R"({"a":2})", 7}}, {{"3"}, {"{}", 8}}};
  const std::string found = difference(view, index);
  EXPECT_NE(found.find("1 missing in the index:\n  '1'"), std::string::npos) << found;
  EXPECT_NE(found.find("1 surplus in the index:\n  '3'"), std::string::npos) << found;
  EXPECT_NE(found.find("1 different:\n  '2'"), std::string::npos) << found;
}

// Sends requests through a proxy, as the program does.
class RecordingProxyTest : public testing::Test {
 protected:
  ElasticsearchServer::Reply send(const std::string& method, const std::string& path,
                                  const std::string& body) {
    HttpStream stream(HttpStream::connect(host_and_port(proxy_.url())));
    stream.write_request(
        {method + " " + path + " HTTP/1.1", {{"host", "x"}, {"content-type", "application/json"}}, body});
    HttpMessage reply = stream.read_response(method);
    return {reply.status(), reply.body};
  }

  static std::string index_line(const std::string& index, std::int64_t version) {
    return Json{{"index",
                 {{"_index", index}, {"_id", "ä/1"}, {"version", version}, {"version_type", "external_gte"}}}}
               .dump() +
           "\n{\"n\":" + std::to_string(version) + "}\n";
  }

  ElasticsearchIndex index_{"proxy"};
  RecordingProxy proxy_;
};

TEST_F(RecordingProxyTest, ForwardsAndRecordsEachItem) {
  const std::string& index = index_.alias();
  const auto reply =
      send("POST", "/_bulk", index_line(index, 7) + index_line(index, 6) + index_line(index, 8));
  EXPECT_EQ(reply.status, 200);
  const auto operations = proxy_.history().operations_on("ä/1");
  ASSERT_EQ(operations.size(), 3U);
  EXPECT_EQ(operations[1].status, 409);
  const auto applied = proxy_.history().applied_to("ä/1");
  ASSERT_EQ(applied.size(), 2U);
  EXPECT_EQ(applied[1].version, 8);
  EXPECT_TRUE(proxy_.history().violations().empty());
  EXPECT_EQ(index_.documents().at({"ä/1"}).json, R"({"n":8})");
}

TEST_F(RecordingProxyTest, RecordsWhatTheSenderDoesNotAskForAndDoesNotShowIt) {
  const auto reply = send("POST", "/_bulk?filter_path=errors,items.*.status", index_line(index_.alias(), 7));
  EXPECT_EQ(reply.json(), Json::parse(R"({"errors": false, "items": [{"index": {"status": 201}}]})"));
  EXPECT_EQ(proxy_.history().applied_to("ä/1").size(), 1U);
  EXPECT_TRUE(proxy_.history().violations().empty());
}

TEST_F(RecordingProxyTest, AnswersInPlaceOfElasticsearchAsOftenAsAsked) {
  const std::string& index = index_.alias();
  proxy_.answer_bulks(1, 429);
  EXPECT_EQ(send("POST", "/_bulk", index_line(index, 1)).status, 429);
  EXPECT_EQ(send("POST", "/_bulk", index_line(index, 1)).status, 200);
  EXPECT_EQ(proxy_.history().operations(), 1);
}

TEST_F(RecordingProxyTest, LosesARepliesConnectionAfterElasticsearchHasActed) {
  const std::string& index = index_.alias();
  proxy_.disturb([](const HttpMessage&) { return Disturbance{.lose_reply = true}; });
  EXPECT_THROW(send("POST", "/_bulk", index_line(index, 1)), HttpStreamError);
  EXPECT_EQ(proxy_.history().applied(), 1);
}

}  // namespace
}  // namespace lockstep::support
