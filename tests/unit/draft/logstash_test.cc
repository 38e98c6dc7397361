#include "replicator/draft/logstash.h"

#include <gmock/gmock.h>

#include "replicator/draft/logstash_file.h"
#include "replicator/error.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr const char* kProducts = R"(# the products of the shop
input {
  jdbc {
    jdbc_driver_library => "/usr/share/java/postgresql.jar"
    jdbc_driver_class => "org.postgresql.Driver"
    jdbc_connection_string => "jdbc:postgresql://localhost:5432/shop"
    jdbc_user => "logstash"
    jdbc_password => "secret"
    schedule => "*/5 * * * * *"
    use_column_value => true
    tracking_column => 'updated_at'
    statement => "select p.id, p.name, c.name as category
                  from shop.products p left join shop.categories c on c.id = p.category_id
                  where p.updated_at > :sql_last_value and p.updated_at < now() order by p.updated_at"
  }
}
filter {
  mutate { remove_field => ["@version", "@timestamp"] }
  if [category] == "}" { mutate { uppercase => ["name"] } } else { drop {} }
}
output {
  elasticsearch {
    hosts => ["http://es1:9200", "http://es2:9200"]
    index => "products"
    document_id => "%{id}"
    routing => "%{[category]}"
    ssl_certificate_authorities => ["/etc/ca.crt"]
  }
}
)";

LogstashIndex translated(const std::string& text) {
  return read_logstash_pipeline("products.conf", text,
                                [](const std::string& file) { return "select id from " + file; });
}

std::string pipeline_with(const std::string& from, const std::string& to) {
  std::string text = kProducts;
  return text.replace(text.find(from), from.size(), to);
}

std::vector<std::string> lines_of(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) lines.push_back(to_line(finding));
  return lines;
}

TEST(LogstashTest, ReadsPluginsWithTheirSettingsAndLines) {
  const std::vector<LogstashPlugin> plugins = read_logstash_file("products.conf", kProducts);
  ASSERT_THAT(plugins, SizeIs(5));
  EXPECT_EQ(plugins[0].section + " " + plugins[0].name, "input jdbc");
  EXPECT_EQ(plugins[0].line, 3);
  EXPECT_EQ(plugins[0].settings[6].name, "use_column_value");
  EXPECT_EQ(plugins[0].settings[6].value, "true");
  EXPECT_EQ(plugins[0].settings[6].line, 10);
  EXPECT_FALSE(plugins[1].conditional);
  EXPECT_TRUE(plugins[2].conditional);
  EXPECT_EQ(plugins[3].name, "drop");
  EXPECT_THAT(plugins[4].settings[0].values, ElementsAre("http://es1:9200", "http://es2:9200"));
}

TEST(LogstashTest, AFaultOfTheFileIsNamedWithItsLine) {
  EXPECT_THAT([] { read_logstash_file("a.conf", "input {\n jdbc {\n statement \"x\" } }"); },
              ThrowsMessage<UsageError>("a.conf:3: there is no => behind statement"));
  EXPECT_THAT([] { read_logstash_file("a.conf", "input {\n jdbc { a => \"x } }"); },
              ThrowsMessage<UsageError>("a.conf:2: the text that begins here has no end"));
  EXPECT_THAT([] { read_logstash_file("a.conf", "input { jdbc { } "); },
              ThrowsMessage<UsageError>(HasSubstr("the input has no }")));
  EXPECT_THAT([] { read_logstash_file("a.conf", "inputs { }"); },
              ThrowsMessage<UsageError>(HasSubstr("\"inputs\" is no section")));
}

TEST(LogstashTest, TheStatementBecomesTheColumnsOfAView) {
  const LogstashIndex index = translated(kProducts);
  EXPECT_EQ(index.alias, "products");
  EXPECT_EQ(index.source_url, "postgresql://logstash@localhost:5432/shop");
  EXPECT_EQ(index.elasticsearch_url, "http://es1:9200");
  EXPECT_EQ(index.columns,
            "select\n  p.id as _id,\n  c.name as _routing,\n  p.id,\n  p.name,\n  c.name as category\n"
            "from shop.products p left join shop.categories c on c.id = p.category_id");
}

TEST(LogstashTest, WhatHasNoCounterpartIsNamedWithItsPlace) {
  EXPECT_THAT(
      lines_of(translated(kProducts).untranslated),
      ElementsAre(
          "products.conf:23: further hosts; add them to elasticsearch.urls",
          "products.conf:12: the condition p.updated_at > :sql_last_value; nothing: triggers record "
          "which rows have changed",
          "products.conf:12: the condition p.updated_at < now(); nothing: triggers record which rows "
          "have changed",
          "products.conf:19: the condition around mutate; write it as SQL in the view",
          "products.conf:19: the filter mutate; write its work as SQL in the view, or as an "
          "ingest pipeline",
          "products.conf:19: the condition around drop; write it as SQL in the view",
          "products.conf:19: the filter drop; write its work as SQL in the view, or as an "
          "ingest pipeline",
          "products.conf:8: jdbc_password; export PGPASSWORD, or write password_file = … into [source]",
          "products.conf:27: ssl_certificate_authorities; write ca_file = … into [elasticsearch]"));
}

TEST(LogstashTest, OtherSourcesAndFilesAreTakenToo) {
  EXPECT_EQ(translated(pipeline_with("jdbc:postgresql://localhost:5432/shop", "jdbc:sqlite:/var/shop.db"))
                .source_url,
            "sqlite:/var/shop.db");
  EXPECT_EQ(translated(pipeline_with("jdbc:postgresql://localhost:5432/shop", "jdbc:mysql://localhost/shop"))
                .source_url,
            "");
  EXPECT_EQ(translated("input { jdbc { statement_filepath => \"a.sql\" } }\n"
                       "output { elasticsearch { document_id => \"%{id}\" index => \"a-%{+YYYY}\" } }")
                .columns,
            "select\n  id as _id,\n  id\nfrom a.sql");
}

TEST(LogstashTest, WhatCannotBeTranslatedAtAllIsAFault) {
  EXPECT_THAT([] { translated(pipeline_with("\"%{id}\"", "\"%{id}-%{name}\"")); },
              ThrowsMessage<UsageError>(HasSubstr("products.conf:25: document_id is \"%{id}-%{name}\"")));
  EXPECT_THAT([] { translated(pipeline_with("\"%{id}\"", "\"%{isbn}\"")); },
              ThrowsMessage<UsageError>(HasSubstr("isbn, which the statement does not give")));
  EXPECT_THAT([] { translated(pipeline_with("document_id", "document_type")); },
              ThrowsMessage<UsageError>(HasSubstr("products.conf:22: it has no document_id")));
  EXPECT_THAT([] { translated(pipeline_with("and p.updated_at", "or p.updated_at")); },
              ThrowsMessage<UsageError>(HasSubstr("products.conf:12: ")));
  EXPECT_THAT([] { translated("input { stdin { } } output { elasticsearch { } }"); },
              ThrowsMessage<UsageError>("products.conf: it has no input jdbc"));
}

}  // namespace
}  // namespace lockstep
