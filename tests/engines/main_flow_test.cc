// The main job on whatever engine LOCKSTEP_TEST_ELASTICSEARCH names: Elasticsearch 7.10 to 9, OpenSearch 2
// and 3. The mappings need nothing that an engine's core doesn't have.
#include <gtest/gtest.h>

#include <csignal>
#include <iostream>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

constexpr const char* kSearchableMapping = R"({
  "settings": {"number_of_shards": 2, "number_of_replicas": 0},
  "mappings": {"dynamic": "strict", "properties": {
    "title": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
    "body": {"type": "text"}, "author": {"type": "keyword"}, "comments": {"type": "text"}}}})";

class Engine : public BlogTest {
 protected:
  static void SetUpTestSuite() {
    const std::string version = ElasticsearchServer().version();
    std::cout << "engine: " << (version.empty() ? "doesn't say" : version) << std::endl;
  }

  Engine() { pipeline_.set_mapping("posts", kSearchableMapping); }

  std::int64_t hits(const std::string& query) {
    posts_.server().expect("POST", "/" + posts_.alias() + "/_refresh");
    return posts_.server()
        .expect("POST", "/" + posts_.alias() + "/_search",
                R"({"track_total_hits": true, "query": )" + query + "}")
        .at("hits")
        .at("total")
        .at("value")
        .get<std::int64_t>();
  }
};

TEST_F(Engine, CommittedChangesBecomeSearchableDocuments) {
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1 + i % 5, 'Relationships ' || i from "
      "generate_series(1001, 3000) i");
  follow();
  EXPECT_EQ(hits(R"({"match": {"title": "relationships"}})"), 2000);
  execute("update blog.authors set name = 'John Smith' where id = 1");
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(hits(R"({"term": {"author": "John Smith"}})"), 404);
  execute("delete from blog.posts where author_id = 1");
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(hits(R"({"term": {"author": "John Smith"}})"), 0);
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
}

TEST_F(Engine, KillsAndRestartsLoseNothing) {
  follow();
  for (int round = 0; round < 5; ++round) {
    execute("update blog.posts set title = title || '.'; update blog.authors set name = name || '.'");
    execute("insert into blog.posts (id, author_id, title) values (" + std::to_string(100 + round) +
            ", 1, 'new')");
    restart();
    execute("delete from blog.posts where id = " + std::to_string(1 + round));
  }
  EXPECT_TRUE(becomes_equal());
  program_->signal(SIGTERM);
  EXPECT_EQ(program_->wait(30s), 0) << program_->err();
}

TEST_F(Engine, RefusedDocumentsBecomeDeadLettersAndComeBackWhenTheyAreMended) {
  pipeline_.set_mapping("posts", R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0},
      "mappings": {"dynamic": "strict", "properties": {"title": {"type": "integer"}, "body": {"type": "text"},
                   "author": {"type": "keyword"}, "comments": {"type": "text"}}}})");
  execute("update blog.posts set title = case when id = 7 then 'not a number' else id::text end");
  follow();
  EXPECT_EQ(dead_letters(), 1);
  EXPECT_EQ(posts_.count(), 19);
  execute("update blog.posts set title = '7' where id = 7");
  EXPECT_TRUE(wait_until([&] { return dead_letters() == 0; }, kPatience));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Engine, RoutedDocumentsMoveAndGo) {
  execute(
      "create table blog.items (id text primary key, tenant text); "
      "insert into blog.items select 'ä/' || i, 'tenant ' || i % 3 from generate_series(1, 50) i; "
      "create view search.items as select id as _id, tenant as _routing, tenant from blog.items");
  pipeline_.add_index("items", "search.items", track("blog.items"),
                      R"({"settings": {"number_of_shards": 5, "number_of_replicas": 0},
                          "mappings": {"_routing": {"required": true}, "properties": {"tenant": {"type": "keyword"}}}})");
  follow();
  execute(
      "update blog.items set tenant = 'moved' where id like '%1'; delete from blog.items where id like '%2'");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Engine, AMissingIndexIsNotMadeByAWrite) {
  follow();
  posts_.server().expect("DELETE", "/" + posts_.concrete().at(0));
  execute("update blog.posts set title = 'homeless'");
  ASSERT_TRUE(wait_until([&] { return pipeline_.status().at("state") != "following"; }, kPatience));
  EXPECT_TRUE(posts_.concrete().empty());
  EXPECT_EQ(dead_letters(), 0);
}

TEST_F(Engine, VerifyFindsAndRepairsDamage) {
  bring_up();
  posts_.damage("1", std::nullopt);
  posts_.damage("2", R"({"title":"altered"})");
  posts_.damage("999", R"({"title":"surplus"})");
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 3);
  pipeline_.lockstep("verify", {"--repair"});
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

}  // namespace
}  // namespace lockstep::support
