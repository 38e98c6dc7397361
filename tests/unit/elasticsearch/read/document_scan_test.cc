#include "replicator/elasticsearch/read/document_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

struct Scanned {
  std::string id, routing;
  std::int64_t version = 0;
  bool operator==(const Scanned&) const = default;
};

std::vector<Scanned> scan(Script& script) {
  std::vector<Scanned> found;
  ElasticsearchClient client = client_of(script);
  scan_documents(client, "posts", {}, [&](std::span<const StoredDocument> page) {
    for (const StoredDocument& document : page) {
      found.push_back({std::string(document.id), std::string(document.routing), document.version.value()});
    }
  });
  return found;
}

constexpr const char* kFirstPage =
    R"({"_scroll_id":"s1","timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":3},"hits":[{"_id":"a","_version":3},)"
    R"({"_id":"b","_routing":"r","_version":4}]}})";
constexpr const char* kSecondPage =
    R"({"_scroll_id":"s2","timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":3},"hits":[{"_id":"c","_version":5}]}})";
constexpr const char* kEnd =
    R"({"_scroll_id":"s3","timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":3}}})";
constexpr const char* kEmpty =
    R"({"_scroll_id":"s1","timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":0}}})";

TEST(ScanDocuments, GivesEveryPageAndEndsTheScan) {
  Script script{{{200, kFirstPage}, {200, kSecondPage}, {200, kEnd}, {200, "{}"}}, {}};
  EXPECT_EQ(scan(script), (std::vector<Scanned>{{"a", "", 3}, {"b", "r", 4}, {"c", "", 5}}));
  ASSERT_EQ(script.requests.size(), 4u);
  EXPECT_EQ(script.requests[1].body, R"({"scroll":"5m","scroll_id":"s1"})");
  EXPECT_EQ(script.requests[2].body, R"({"scroll":"5m","scroll_id":"s2"})");
  EXPECT_EQ(script.requests[3].method, "DELETE");
  EXPECT_EQ(script.requests[3].body, R"({"scroll_id":["s3"]})");
}

TEST(ScanDocuments, EndsTheScanWhenTheSinkThrows) {
  Script script{{{200, kFirstPage}, {200, "{}"}}, {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_THROW(scan_documents(client, "posts", {},
                              [](std::span<const StoredDocument>) { throw std::runtime_error("x"); }),
               std::runtime_error);
  EXPECT_EQ(script.requests.back().method, "DELETE");
}

TEST(ScanDocuments, AShardThatDoesNotAnswerIsARetryableErrorAndNeverAnEnd) {
  for (const HttpResponse& second :
       {HttpResponse{200, R"({"_scroll_id":"s","timed_out":false,"_shards":{"failed":1}})"},
        HttpResponse{200, R"({"_scroll_id":"s","timed_out":true,"_shards":{"failed":0}})"},
        HttpResponse{200, R"({"timed_out":false,"_shards":{"failed":0}})"}, HttpResponse{200, "{}"},
        HttpResponse{200, "<html>"}, HttpResponse{200, R"({"_scroll_id":"s","timed_out":fal)"},
        HttpResponse{404, R"({"error":{"type":"search_context_missing_exception","reason":"r"}})"},
        HttpResponse{500, R"({"error":{"type":"search_phase_execution_exception","reason":"r"}})"},
        HttpResponse{503, ""}}) {
    Script script{{{200, kFirstPage}, second, {200, "{}"}}, {}};
    try {
      scan(script);
      ADD_FAILURE() << second.body;
    } catch (const Error& error) {
      EXPECT_TRUE(error.retryable()) << error.what();
    }
    EXPECT_EQ(script.requests.back().method, "DELETE");
  }
}

TEST(ScanDocuments, APageThatABusyServerHasLostIsAnErrorAndNeverAnEnd) {
  Script script{{{200, kFirstPage}, {429, "{}"}, {200, kEnd}, {200, "{}"}}, {}};
  ElasticsearchClient client = patient_client_of(script);
  try {
    scan_documents(client, "posts", {}, [](std::span<const StoredDocument>) {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("2 of 3 documents"));
  }
}

TEST(ScanDocuments, AsksABusyServerAgainForThePage) {
  Script script{
      {{503, ""}, {200, kFirstPage}, {429, "{}"}, {200, kSecondPage}, {503, ""}, {200, kEnd}, {200, "{}"}},
      {}};
  ElasticsearchClient client = patient_client_of(script);
  std::size_t documents = 0;
  scan_documents(client, "posts", {},
                 [&](std::span<const StoredDocument> page) { documents += page.size(); });
  EXPECT_EQ(documents, 3u);
}

TEST(ScanDocuments, DoesNotWaitForABusyServerToEndTheScan) {
  Script script{{{200, kEmpty}, {429, "{}"}}, {}};
  ElasticsearchClient client = patient_client_of(script);
  scan_documents(client, "posts", {}, [](std::span<const StoredDocument>) {});
  EXPECT_EQ(script.requests.size(), 2u);
}

TEST(ScanDocuments, CanTakeASlice) {
  Script script{{{200, kEmpty}, {200, "{}"}}, {}};
  ElasticsearchClient client = client_of(script);
  scan_documents(client, "posts", {.page = 10, .slice = 1, .slices = 3},
                 [](std::span<const StoredDocument>) {});
  EXPECT_THAT(script.requests.at(0).body, HasSubstr(R"("size":10,"slice":{"id":1,"max":3})"));
}

}  // namespace
}  // namespace lockstep
