// A document with a routing lives in the shard of that routing: one whose routing changes must be gone under
// the old one, and a deleted one under every one it had.
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class Routing : public BlogTest {
 protected:
  Routing() {
    execute(
        "create table blog.items (id integer primary key, tenant text, n integer not null default 0); "
        "insert into blog.items select i, 'tenant ' || i % 3 from generate_series(1, 30) i; "
        "create view search.items as select id as _id, tenant as _routing, tenant, n from blog.items");
    pipeline_.add_index(
        "items", "search.items", track("blog.items"),
        R"({"settings": {"number_of_shards": 5, "number_of_replicas": 0}, "mappings": {"dynamic": false}})");
  }

  // Under which routings the index holds the document.
  std::vector<std::string> routings(const std::string& id) {
    std::vector<std::string> found;
    for (const auto& [address, document] : pipeline_.index("items").documents()) {
      if (address.id == id) found.push_back(address.routing);
    }
    return found;
  }
};

TEST_F(Routing, ADocumentWhoseRoutingChangesIsGoneUnderTheOldOne) {
  follow();
  execute("update blog.items set tenant = 'elsewhere' where id = 1");
  EXPECT_TRUE(wait_until([&] { return routings("1") == std::vector<std::string>{"elsewhere"}; }, kPatience));
  execute("update blog.items set tenant = 'a/b c%&?\"''ü' where id = 1");
  EXPECT_TRUE(
      wait_until([&] { return routings("1") == std::vector<std::string>{"a/b c%&?\"'ü"}; }, kPatience));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Routing, ADocumentThatGoesAwayAndBackIsThereOnce) {
  follow();
  for (const char* tenant : {"x", "tenant 1", "y", "tenant 1"}) {
    execute("update blog.items set n = n + 1, tenant = '" + std::string(tenant) + "' where id = 1");
    ASSERT_TRUE(wait_until([&] { return routings("1") == std::vector<std::string>{tenant}; }, kPatience))
        << tenant;
  }
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Routing, ADeletedDocumentIsGoneUnderEveryRoutingItHad) {
  bring_up();
  execute("update blog.items set tenant = 'second' where id <= 10");
  pipeline_.catch_up();
  execute(
      "begin; update blog.items set tenant = 'third' where id <= 10; delete from blog.items where id <= 5; "
      "commit");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  EXPECT_TRUE(routings("1").empty());
  EXPECT_EQ(routings("6"), std::vector<std::string>{"third"});
}

TEST_F(Routing, RoutingsThatChangeWhileTheProgramIsKilledLeaveNothingBehind) {
  follow();
  for (int i = 0; i < 4; ++i) {
    execute("update blog.items set tenant = 'tenant " + std::to_string(100 + i) + "'");
    restart();
    execute("update blog.items set tenant = 'other' where id % 4 = " + std::to_string(i));
  }
  execute("delete from blog.items where id > 25");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Routing, ARoutingThatBecomesNullMovesTheDocumentToWhereItsIdSays) {
  follow();
  execute("update blog.items set tenant = null where id = 1");
  EXPECT_TRUE(wait_until([&] { return routings("1") == std::vector<std::string>{""}; }, kPatience));
  execute("update blog.items set tenant = 'back' where id = 1");
  EXPECT_TRUE(wait_until([&] { return routings("1") == std::vector<std::string>{"back"}; }, kPatience));
  EXPECT_TRUE(becomes_equal());
}

}  // namespace
}  // namespace lockstep::support
