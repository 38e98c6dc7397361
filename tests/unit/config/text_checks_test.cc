#include "replicator/config/text_checks.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

bool valid(TextFault (*check)(const std::string&), const std::string& text) {
  return check(text).what.empty();
}

TEST(TextChecksTest, PipelineNames) {
  for (const char* text : {"shop", "a", "shop-2_b", "9"})
    EXPECT_TRUE(valid(pipeline_name_fault, text)) << text;
  for (const std::string& text :
       {std::string("Shop"), std::string("-a"), std::string("a b"), std::string("ü"), std::string(41, 'a')}) {
    EXPECT_FALSE(valid(pipeline_name_fault, text)) << text;
  }
}

TEST(TextChecksTest, IndexNamesAreElasticsearchs) {
  for (const char* text : {"posts", "posts-2024.01", "büro", "1"})
    EXPECT_TRUE(valid(index_name_fault, text)) << text;
  for (const char* text : {".", "..", "-a", "_a", "+a", "A", "a b", "a/b", "a\\b", "a*", "a?", "a\"", "a<",
                           "a>", "a|", "a,b", "a#", "a:b", ""}) {
    EXPECT_FALSE(valid(index_name_fault, text)) << text;
  }
  EXPECT_TRUE(valid(index_name_fault, std::string(255, 'a')));
  EXPECT_FALSE(valid(index_name_fault, std::string(256, 'a')));
  EXPECT_TRUE(valid(alias_fault, std::string(246, 'a')));
  EXPECT_FALSE(valid(alias_fault, std::string(247, 'a')));
}

TEST(TextChecksTest, ElasticsearchUrls) {
  for (const char* text :
       {"http://localhost:9200", "https://es1", "http://[::1]:9200", "https://es/prefix/"}) {
    EXPECT_TRUE(valid(elasticsearch_url_fault, text)) << text;
  }
  for (const char* text : {"localhost:9200", "ftp://es", "http://", "http://a:b@es", "http://es:0",
                           "http://es:70000", "http://es:x", "http://es?x=1", "http://es es"}) {
    EXPECT_FALSE(valid(elasticsearch_url_fault, text)) << text;
  }
}

TEST(TextChecksTest, ListenAddresses) {
  for (const char* text : {"127.0.0.1:9464", "[::1]:9464", "localhost:0"})
    EXPECT_TRUE(valid(listen_fault, text)) << text;
  for (const char* text :
       {"9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "[::1"}) {
    EXPECT_FALSE(valid(listen_fault, text)) << text;
  }
}

TEST(TextChecksTest, OwnSchemas) {
  EXPECT_TRUE(valid(schema_fault, "lockstep"));
  EXPECT_TRUE(valid(schema_fault, "Lock Step"));
  for (const std::string& text : {std::string("public"), std::string("pg_catalog"), std::string(64, 'a')}) {
    EXPECT_FALSE(valid(schema_fault, text)) << text;
  }
}

TEST(TextChecksTest, DotsInQuotesDoNotQualify) {
  EXPECT_TRUE(schema_qualified("blog.users"));
  EXPECT_TRUE(schema_qualified(R"("a.b"."c")"));
  EXPECT_FALSE(schema_qualified("users"));
  EXPECT_FALSE(schema_qualified(R"("a.b")"));
  EXPECT_FALSE(schema_qualified("blog."));
  EXPECT_FALSE(schema_qualified(".users"));
}

}  // namespace
}  // namespace lockstep
