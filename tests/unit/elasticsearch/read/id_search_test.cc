#include "replicator/elasticsearch/read/id_search.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

constexpr const char* kTwoHits =
    R"({"took":1,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"max_score":null,"hits":[)"
    R"({"_index":"i","_type":"_doc","_id":"b","_version":4,"_score":null,"_source":{ "n" : 1.10 },"sort":[0]},)"
    R"({"_index":"i","_type":"_doc","_id":"a","_version":3,"_routing":"other","_source":{},"sort":[1]}]}})";

std::map<std::string, std::string> sources_of_neighbours(Script& script,
                                                         const std::vector<DocumentLocation>& wanted) {
  std::map<std::string, std::string> sources;
  ElasticsearchClient client = client_of(script);
  NeighbourReader(client, "posts").fetch(wanted, [&](std::size_t i, const auto& stored) {
    const std::string source = stored ? std::string(stored->source) : "none";
    EXPECT_TRUE(
        sources.emplace(std::string(wanted[i].id) + "/" + std::string(wanted[i].routing), source).second);
  });
  return sources;
}

TEST(NeighbourReader, GivesTheBytesOfTheSourceAndLooksUpByIdWhatTheSearchDoesNotGive) {
  Script script{
      {{200, kTwoHits}, {200, R"({"docs":[{"_id":"a","_version":3,"found":true,"_source":{"x":1}}]})"}}, {}};
  EXPECT_EQ(sources_of_neighbours(script, {{"a", ""}, {"b", ""}}),
            (std::map<std::string, std::string>{{"a/", R"({"x":1})"}, {"b/", R"({ "n" : 1.10 })"}}));
  ASSERT_EQ(script.requests.size(), 2u);
  EXPECT_EQ(script.requests[0].path, "/posts/_search?request_cache=false&allow_partial_search_results=false");
  EXPECT_EQ(script.requests[0].body, R"({"sort":["_doc"],"version":true,"track_total_hits":false,"size":2,)"
                                     R"("query":{"ids":{"values":["a","b"]}}})");
  EXPECT_EQ(script.requests[1].body, R"({"docs":[{"_id":"a"}]})");
}

TEST(NeighbourReader, WhereTheIndexAllowsFewerAtOnceItAsksForFewer) {
  Script script{{{400, R"({"error":{"type":"illegal_argument_exception","reason":"max_result_window"}})"},
                 {200, kTwoHits},
                 {200, kTwoHits},
                 {200, R"({"docs":[{"_id":"a","found":false}]})"}},
                {}};
  EXPECT_EQ(sources_of_neighbours(script, {{"b", ""}, {"a", ""}}).at("a/"), "none");
  Script refused{{{400, "{}"}, {400, "{}"}}, {}};
  EXPECT_THROW(sources_of_neighbours(refused, {{"b", ""}, {"a", ""}}), Error) << "not even one";
}

TEST(NeighbourReader, WhatIsNoWholeAnswerIsAnError) {
  for (const char* reply :
       {R"({"timed_out":false,"_shards":{"failed":1},"hits":{"hits":[]}})",
        R"({"timed_out":true,"_shards":{"failed":0},"hits":{"hits":[]}})",
        R"({"timed_out":false,"_shards":{"failed":0},"hits":{}})",
        R"({"timed_out":false,"_shards":{"failed":0},"hits":{"hits":[{"_id":"a","_source":{}}]}})",
        R"({"timed_out":false,"_shards":{"failed":0},"hits":{"hits":[{"_id":"a","_version":1}]}})",
        R"({"timed_out":fal)", "<html>"}) {
    Script script{{{200, reply}}, {}};
    EXPECT_THROW(sources_of_neighbours(script, {{"a", ""}}), Error) << reply;
  }
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

}  // namespace
}  // namespace lockstep
