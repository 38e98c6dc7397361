// What Elasticsearch refuses for a while and what it refuses for good: the first is tried again until it
// works, the second becomes a dead letter, and neither stops the others.
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class Refusals : public BlogTest {
 protected:
  void set_block(bool on) {
    posts_.server().expect("PUT", "/" + posts_.concrete().at(0) + "/_settings",
                           on ? R"({"index.blocks.read_only_allow_delete": true})"
                              : R"({"index.blocks.read_only_allow_delete": null})");
  }
};

TEST_F(Refusals, AFullDisksBlockIsWaitedOut) {
  follow();
  set_block(true);
  execute("update blog.posts set title = 'blocked' where id <= 5");
  EXPECT_TRUE(
      wait_until([&] { return pipeline_.status().at("state") == "waiting_for_elasticsearch"; }, kPatience));
  EXPECT_EQ(dead_letters(), 0);
  set_block(false);
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(dead_letters(), 0);
}

TEST_F(Refusals, AClosedIndexIsWaitedFor) {
  follow();
  const std::string index = posts_.concrete().at(0);
  posts_.server().expect("POST", "/" + index + "/_close");
  execute("update blog.posts set title = 'closed' where id <= 5; delete from blog.posts where id = 6");
  EXPECT_TRUE(
      wait_until([&] { return pipeline_.status().at("state") == "waiting_for_elasticsearch"; }, kPatience));
  EXPECT_EQ(dead_letters(), 0);
  posts_.server().expect("POST", "/" + index + "/_open?wait_for_active_shards=1");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Refusals, ATooLargeRequestIsSplitAndATooLargeDocumentPutAside) {
  follow();
  proxy_.disturb([](const HttpMessage& request) -> std::optional<Disturbance> {
    if (!RecordingProxy::is_bulk(request) || request.body.size() < 300'000) return std::nullopt;
    return Disturbance{.status = 413};
  });
  execute(
      "update blog.posts set body = repeat('x', 100000) where id <= 10; "
      "update blog.posts set body = repeat('y', 500000) where id = 7");
  EXPECT_TRUE(wait_until([&] { return dead_letters() == 1; }, kPatience));
  EXPECT_EQ(database_.value("select id from lockstep.dead_letter"), "7");
  execute("update blog.posts set title = 'goes on' where id = 20");
  EXPECT_TRUE(wait_until([&] { return document("20").find("goes on") != std::string::npos; }, kPatience));
  execute("update blog.posts set body = 'short' where id = 7");
  EXPECT_TRUE(wait_until([&] { return dead_letters() == 0; }, kPatience));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Refusals, RepliesThatAreNoBulkRepliesAreAskedForAgain) {
  follow();
  int n = 0;
  for (const char* nonsense :
       {"", "<html>gateway</html>", "{}", R"({"items": []})", R"({"errors": false, "items": [{}]})"}) {
    proxy_.answer_bulks(2, 200, nonsense);
    execute("update blog.posts set title = 'again " + std::to_string(++n) + "' where id <= 3");
    EXPECT_TRUE(becomes_equal()) << nonsense;
  }
  for (const int status : {401, 403, 404, 408, 500, 502, 504}) {
    proxy_.answer_bulks(2, status, R"({"error":"by the test"})");
    execute("update blog.posts set title = 'again " + std::to_string(++n) + "' where id <= 3");
    EXPECT_TRUE(becomes_equal()) << status;
  }
  EXPECT_EQ(dead_letters(), 0);
  EXPECT_TRUE(program_->running()) << program_->err();
}

TEST_F(Refusals, TooManyFieldsAreADeadLetter) {
  pipeline_.set_mapping("posts", R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0,
      "index.mapping.total_fields.limit": 8}, "mappings": {"dynamic": true}})");
  execute(
      "drop view search.posts; alter table blog.posts add column extra jsonb; create view search.posts as "
      "select id as _id, title, extra from blog.posts");
  pipeline_.set_tracks("posts", track("blog.posts"));
  bring_up();
  execute(
      "update blog.posts set extra = (select jsonb_object_agg('f' || i, i) from generate_series(1, 20) i) "
      "where id = 3; "
      "update blog.posts set title = 'fine' where id = 4");
  pipeline_.catch_up();
  EXPECT_EQ(dead_letters(), 1);
  EXPECT_NE(document("4").find("fine"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::support
