#include "replicator/elasticsearch/admin/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

struct Row {
  int status;
  const char* body;
  Retry retry;
  const char* remedy;
};

class ReplyError : public testing::TestWithParam<Row> {};

TEST_P(ReplyError, SaysWhetherToRetryByStatusAndType) {
  const Error error = reply_error("doing it", {GetParam().status, GetParam().body, "http://es1:9200"});
  EXPECT_EQ(error.parts().retry, GetParam().retry);
  EXPECT_THAT(error.parts().remedy, HasSubstr(GetParam().remedy));
  EXPECT_THAT(error.what(),
              HasSubstr("doing it: HTTP " + std::to_string(GetParam().status) + " from http://es1:9200"));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ReplyError,
    testing::Values(
        Row{400, R"({"error":{"type":"mapper_parsing_exception","reason":"r"}})", Retry::kNever, ""},
        Row{401, R"({"error":{"type":"security_exception","reason":"r"}})", Retry::kNever, "credentials"},
        Row{403, R"({"error":{"type":"security_exception","reason":"r"}})", Retry::kNever, "privilege"},
        Row{403, R"({"error":{"type":"cluster_block_exception","reason":"r"}})", Retry::kLater, "block"},
        Row{404, R"({"error":{"type":"index_not_found_exception","reason":"r"}})", Retry::kNever,
            "lockstep apply"},
        Row{408, "", Retry::kLater, ""}, Row{429, "", Retry::kLater, ""},
        Row{502, "<html>Bad Gateway</html>", Retry::kLater, ""}, Row{503, "", Retry::kLater, ""}));

TEST(Client, ALostConnectionIsRetryableAndNamesTheServer) {
  Script script;
  ElasticsearchClient client = client_of(script);
  try {
    client.refresh("posts");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_STREQ(error.what(), "refreshing posts: http://es1:9200: refused");
  }
}

// Reported: a url with an index in it got the remedy "run `lockstep apply`".
TEST(Client, AnIndexInTheUrlIsNamed) {
  Script script{
      {{404, R"({"error":{"type":"index_not_found_exception","reason":"no such index [orders]"}})"}}, {}};
  ElasticsearchClient client = client_of(script);
  try {
    client.info();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("remove the index from [elasticsearch] urls"));
  }
}

TEST(Client, RefreshesSeveralAliasesAtOnce) {
  Script script{{{200, "{}"}}, {}};
  ElasticsearchClient client = client_of(script);
  client.refresh(std::vector<std::string>{"posts", "users"});
  client.refresh(std::vector<std::string>{});
  ASSERT_EQ(script.requests.size(), 1U);
  EXPECT_EQ(script.requests[0].method + " " + script.requests[0].path, "POST /posts,users/_refresh");
}

TEST(Client, AProxysPageIsRetryable) {
  Script script{{{200, "<html>hello</html>", "http://es1:9200"}}, {}};
  ElasticsearchClient client = client_of(script);
  try {
    client.count("posts");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("http://es1:9200"));
  }
}

TEST(Client, ReadsTheEngineFromTheRoot) {
  Script script{
      {{200, R"({"cluster_name":"c","cluster_uuid":"u","version":{"number":"7.10.2"}})"},
       {200,
        R"({"cluster_name":"c","cluster_uuid":"u","version":{"number":"2.19.5","distribution":"opensearch"}})"},
       {200, R"({"hello":"I am a web server"})"}},
      {}};
  ElasticsearchClient client = client_of(script);
  const EngineInfo elasticsearch = client.info();
  EXPECT_EQ(elasticsearch.text(), "Elasticsearch 7.10.2");
  EXPECT_EQ(elasticsearch.cluster_uuid, "u");
  EXPECT_EQ(elasticsearch.cluster_name, "c");
  EXPECT_EQ(client.info().text(), "OpenSearch 2.19.5");
  EXPECT_THROW(client.info(), Error);
}

TEST(Client, ReadsTheEngineWhereTheRootIsNotServed) {
  Script script{{{405, R"({"error":"Incorrect HTTP method"})"},
                 {200, R"({"cluster_name":"c","nodes":{"n1":{"version":"8.19.21"}}})"},
                 {200, R"({"cluster_uuid":"u"})"}},
                {}};
  const EngineInfo info = client_of(script).info();
  EXPECT_EQ(info.text(), "Elasticsearch 8.19.21");
  EXPECT_EQ(info.cluster_uuid, "u");
}

TEST(EngineInfo, KnowsWhatIsSupported) {
  const auto supported = [](EngineInfo::Distribution distribution, const char* version) {
    return EngineInfo{distribution, version, "", ""}.supported();
  };
  using enum EngineInfo::Distribution;
  for (const char* version : {"7.10.0", "7.17.29", "8.0.0-SNAPSHOT", "9.2.1"})
    EXPECT_TRUE(supported(kElasticsearch, version));
  for (const char* version : {"6.8.23", "7.9.3", "10.0.0", ""})
    EXPECT_FALSE(supported(kElasticsearch, version));
  for (const char* version : {"2.0.0", "3.6.0"}) EXPECT_TRUE(supported(kOpenSearch, version));
  for (const char* version : {"1.3.20", "4.0.0"}) EXPECT_FALSE(supported(kOpenSearch, version));
}

TEST(Client, NeverAddressesSeveralIndicesByOneName) {
  Script script;
  ElasticsearchClient client = client_of(script);
  for (const char* name : {"", "*", "a*", "a,b", "_all", "-a", "<a-{now}>", "?"}) {
    EXPECT_THROW(client.delete_index(name), Error) << name;
    EXPECT_THROW(client.indices_of(name), Error) << name;
  }
  EXPECT_TRUE(script.requests.empty());
}

TEST(Client, EncodesNames) {
  Script script{{{200, R"({"acknowledged":true})"}}, {}};
  client_of(script).delete_index("größe%/x");
  EXPECT_THAT(script.requests.at(0).path, HasSubstr("/gr%C3%B6%C3%9Fe%25%2Fx"));
}

TEST(Client, AMissingIndexIsNoErrorButAMissingPageIs) {
  Script script{{{404, R"({"error":{"type":"index_not_found_exception","reason":"r"}})"}, {404, "not here"}},
                {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_TRUE(client.indices_of("posts").empty());
  EXPECT_THROW(client.indices_of("posts"), Error);
}

TEST(Client, ListsTheGenerationsOfAnAliasByTheirNumbers) {
  Script script{{{200, R"({"posts-000010":{},"posts-000002":{"aliases":{"posts":{}},"mappings":{"a":1},
                           "settings":{"index.uuid":"u"}},"posts-check-abc":{},"posts-comments-000001":{},
                           "posts-1234567":{}})"}},
                {}};
  const std::vector<IndexState> found = client_of(script).generations("posts");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "posts-000002");
  EXPECT_EQ(found[0].uuid, "u");
  EXPECT_EQ(found[0].aliases, std::vector<std::string>{"posts"});
  EXPECT_EQ(found[1].name, "posts-000010");
  EXPECT_EQ(found[2].name, "posts-1234567");
}

TEST(Generation, HasSixDigitsOrMore) {
  EXPECT_EQ(generation_name("posts", 7), "posts-000007");
  EXPECT_EQ(generation_name("posts", 12'345'678), "posts-12345678");
  EXPECT_EQ(generation_number("posts", "posts-000007"), 7);
  for (const char* other : {"posts", "posts-", "posts-7", "posts-00000x", "posts-000000", "post-000007",
                            "postsX000007", "posts--00001"}) {
    EXPECT_EQ(generation_number("posts", other), 0) << other;
  }
}

TEST(Client, TheAverageSizeOfADocumentIsUnknownToWhomItIsNotTold) {
  const auto stats = [](const char* documents) {
    return HttpResponse{200, R"({"_all":{"primaries":{"docs":{"count":)" + std::string(documents) +
                                 R"(,"deleted":1},"store":{"size_in_bytes":1000}},"total":{}}})"};
  };
  Script script{{stats("4"), stats("0"), {403, R"({"error":"no"})"}, {200, "{}"}}, {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_EQ(client.average_stored_size("posts"), 200) << "the deleted one is stored, too";
  EXPECT_EQ(script.requests.at(0).path, "/posts/_stats/docs,store");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.average_stored_size("posts"), std::nullopt);
}

TEST(Client, ACountWithoutAllShardsIsNoCount) {
  Script script{{{200, R"({"count":3,"_shards":{"total":2,"successful":1,"failed":1}})"},
                 {200, R"({"count":3,"_shards":{"total":2,"successful":1,"failed":0}})"},
                 {200, R"({"count":3,"_shards":{"total":2,"successful":2,"failed":0}})"}},
                {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_THROW(client.count("posts"), Error);
  EXPECT_THROW(client.count("posts"), Error) << "a shard is on no node";
  EXPECT_EQ(client.count("posts"), 3);
}

}  // namespace
}  // namespace lockstep
