#include "replicator/elasticsearch/read/document_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Read {
  std::string id, routing, source;
  std::int64_t version = 0;
  bool operator==(const Read&) const = default;
};

std::vector<std::optional<Read>> fetch(Script& script, const std::vector<DocumentLocation>& wanted) {
  std::vector<std::optional<Read>> found;
  ElasticsearchClient client = client_of(script);
  fetch_documents(client, "posts", wanted,
                  [&](std::size_t position, const std::optional<StoredDocument>& document) {
                    EXPECT_EQ(position, found.size());
                    if (!document) {
                      found.emplace_back();
                    } else {
                      found.push_back(Read{std::string(document->id), std::string(document->routing),
                                           std::string(document->source), document->version.value()});
                    }
                  });
  return found;
}

std::vector<Read> scan(Script& script) {
  std::vector<Read> found;
  ElasticsearchClient client = client_of(script);
  scan_documents(client, "posts", {}, [&](std::span<const StoredDocument> page) {
    for (const StoredDocument& document : page) {
      found.push_back(
          {std::string(document.id), std::string(document.routing), "", document.version.value()});
    }
  });
  return found;
}

constexpr const char* kTwoFound =
    R"({"docs":[{"_index":"i","_type":"_doc","_id":"a\"b","_version":7,"_seq_no":1,"_primary_term":1,)"
    R"("_routing":"r","found":true,"_source":{ "n" : 1.10, "s":"}{\"" }},{"_index":"i","_id":"c","found":false}]})";

TEST(FetchDocuments, ADocumentWithoutAVersionIsNotOneOfVersionZero) {
  for (const char* version : {"", R"("_version":"7",)"}) {
    Script script{
        {{200, R"({"docs":[{"_id":"a",)" + std::string(version) + R"("found":true,"_source":{}}]})"}}, {}};
    EXPECT_THROW((void)fetch(script, {{"a", ""}}), Error) << version;
  }
}

TEST(FetchDocuments, GivesTheBytesOfTheSource) {
  Script script{{{200, kTwoFound}}, {}};
  const auto found = fetch(script, {{"a\"b", "r"}, {"c", ""}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (Read{"a\"b", "r", R"({ "n" : 1.10, "s":"}{\"" })", 7}));
  EXPECT_EQ(found[1], std::nullopt);
  EXPECT_EQ(script.requests.at(0).path, "/posts/_mget");
  EXPECT_EQ(script.requests[0].body, R"({"docs":[{"_id":"a\"b","routing":"r"},{"_id":"c"}]})");
}

TEST(FetchDocuments, ACutOrMisfitReplyIsARetryableError) {
  const std::string whole = kTwoFound;
  std::vector<std::string> replies;
  for (std::size_t length = 0; length < whole.size(); ++length) replies.push_back(whole.substr(0, length));
  replies.insert(replies.end(), {"<html>", R"({"docs":[]})",
                                 R"({"docs":[{"_id":"c","found":false},{"_id":"a\"b","found":false}]})"});
  for (const std::string& reply : replies) {
    Script script{{{200, reply}}, {}};
    try {
      fetch(script, {{"a\"b", "r"}, {"c", ""}});
      ADD_FAILURE() << reply;
    } catch (const Error& error) {
      EXPECT_TRUE(error.retryable()) << reply;
    }
  }
}

TEST(FetchDocuments, AnItemsErrorIsAnError) {
  Script script{
      {{200,
        R"({"docs":[{"_index":"posts","_id":"a","error":{"type":"index_not_found_exception","reason":"no"}}]})"}},
      {}};
  try {
    fetch(script, {{"a", ""}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_FALSE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("lockstep apply"));
  }
}

TEST(FetchDocuments, AsksInPages) {
  std::vector<std::string> ids;
  for (int i = 0; i < 1'200; ++i) ids.push_back(std::to_string(i));
  std::vector<DocumentLocation> wanted;
  for (const std::string& id : ids) wanted.push_back({id, ""});
  Script script;
  for (const auto& [begin, end] : {std::pair(0, 500), std::pair(500, 1'000), std::pair(1'000, 1'200)}) {
    std::string docs;
    for (int i = begin; i < end; ++i) {
      docs += (docs.empty() ? "" : ",") + std::string(R"({"_id":")") + ids[static_cast<std::size_t>(i)] +
              R"(","found":false})";
    }
    script.answers.push_back({200, R"({"docs":[)" + docs + "]}"});
  }
  EXPECT_EQ(fetch(script, wanted).size(), 1'200u);
  EXPECT_EQ(script.requests.size(), 3u);
}

TEST(CountDocuments, AsksForExactlyThese) {
  Script script{
      {{200,
        R"({"timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":1,"relation":"eq"},"hits":[]}})"}},
      {}};
  ElasticsearchClient client = client_of(script);
  const std::vector<DocumentLocation> wanted = {{"a\"b", "r"}, {"c", ""}};
  EXPECT_EQ(count_documents(client, "posts", wanted), 1);
  EXPECT_EQ(script.requests.at(0).body,
            R"({"size":0,"track_total_hits":true,"query":{"ids":{"values":["a\"b","c"]}}})");
}

TEST(CountDocuments, WhatIsNoWholeCountIsARetryableError) {
  for (const char* reply :
       {R"({"timed_out":false,"_shards":{"failed":1},"hits":{"total":{"value":1}}})",
        R"({"timed_out":true,"_shards":{"failed":0},"hits":{"total":{"value":1}}})",
        R"({"timed_out":false,"_shards":{"failed":0},"hits":{}})", R"({"timed_out":fal)", "<html>"}) {
    Script script{{{200, reply}}, {}};
    ElasticsearchClient client = client_of(script);
    const std::vector<DocumentLocation> wanted = {{"a", ""}};
    try {
      count_documents(client, "posts", wanted);
      ADD_FAILURE() << reply;
    } catch (const Error& error) {
      EXPECT_TRUE(error.retryable()) << reply;
    }
  }
}

constexpr const char* kFirstPage =
    R"({"_scroll_id":"s1","timed_out":false,"_shards":{"failed":0},"hits":{"hits":[{"_id":"a","_version":3},)"
    R"({"_id":"b","_routing":"r","_version":4}]}})";
constexpr const char* kSecondPage =
    R"({"_scroll_id":"s2","timed_out":false,"_shards":{"failed":0},"hits":{"hits":[{"_id":"c","_version":5}]}})";
constexpr const char* kEnd = R"({"_scroll_id":"s3","timed_out":false,"_shards":{"failed":0}})";

TEST(ScanDocuments, GivesEveryPageAndEndsTheScan) {
  Script script{{{200, kFirstPage}, {200, kSecondPage}, {200, kEnd}, {200, "{}"}}, {}};
  EXPECT_EQ(scan(script), (std::vector<Read>{{"a", "", "", 3}, {"b", "r", "", 4}, {"c", "", "", 5}}));
  ASSERT_EQ(script.requests.size(), 4u);
  EXPECT_EQ(script.requests[1].body, R"({"scroll":"5m","scroll_id":"s1"})");
  EXPECT_EQ(script.requests[2].body, R"({"scroll":"5m","scroll_id":"s2"})");
  EXPECT_EQ(script.requests[3].method, "DELETE");
  EXPECT_EQ(script.requests[3].body, R"({"scroll_id":["s3"]})");
}

TEST(ScanDocuments, GivesTheBytesOfSourcesWhenTheyAreWanted) {
  Script script{
      {{200,
        R"({"_scroll_id":"s1","took":1,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"max_score":null,)"
        R"("hits":[{"_index":"i","_type":"_doc","_id":"a","_version":3,"_score":null,"_source":{ "n" : 1.10 },)"
        R"("sort":[0]}]}})"},
       {200,
        R"({"_scroll_id":"s2","timed_out":false,"_shards":{"failed":0},"hits":{"hits":[{"_id":"b","_version":4}]}})"},
       {200, "{}"}},
      {}};
  ElasticsearchClient client = client_of(script);
  DocumentScan scan(client, "posts", {.page = 10, .sources = true});
  const auto page = scan.next();
  ASSERT_EQ(page.size(), 1u);
  EXPECT_EQ(page[0].source, R"({ "n" : 1.10 })");
  EXPECT_THAT(script.requests[0].path, Not(HasSubstr("filter_path")));
  EXPECT_EQ(script.requests[0].body, R"({"sort":["_doc"],"version":true,"_source":true,"size":10})");
  EXPECT_THROW(scan.next(), Error) << "an index that keeps no sources proves nothing";
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

TEST(ScanDocuments, CanTakeASlice) {
  Script script{{{200, kEnd}, {200, "{}"}}, {}};
  ElasticsearchClient client = client_of(script);
  scan_documents(client, "posts", {.page = 10, .slice = 1, .slices = 3},
                 [](std::span<const StoredDocument>) {});
  EXPECT_THAT(script.requests.at(0).body, HasSubstr(R"("size":10,"slice":{"id":1,"max":3})"));
}

}  // namespace
}  // namespace lockstep
