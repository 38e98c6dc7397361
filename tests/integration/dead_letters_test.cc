// A document that Elasticsearch refuses never stops the others (promise 6); it is put aside with everything
// needed to mend it, and tried again when it changes.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class DeadLetters : public BlogTest {
 protected:
  DeadLetters() {
    pipeline_.set_mapping("posts", R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0},
        "mappings": {"dynamic": "strict", "properties": {"title": {"type": "integer"}, "body": {"type": "keyword"},
                     "author": {"type": "keyword"}, "comments": {"type": "keyword"}}}})");
    execute("update blog.posts set title = id::text");
  }
};

TEST_F(DeadLetters, ARefusedDocumentIsPutAsideWithItsErrorAndTheOthersGoOn) {
  follow();
  execute(
      "update blog.posts set title = 'not a number' where id = 1; update blog.posts set title = '200' where "
      "id = 2");
  EXPECT_TRUE(wait_until([&] { return document("2").find("\"200\"") != std::string::npos; }, kPatience));
  ASSERT_TRUE(wait_until([&] { return dead_letters() == 1; }, kPatience));
  const auto letter = database_.query(
      "select d.id, d.version, d.status, d.error_type, d.reason, d.tries, i.alias, i.view "
      "from lockstep.dead_letter d join lockstep.index i on i.id = d.index");
  ASSERT_EQ(letter.size(), 1U);
  EXPECT_EQ(letter[0]["id"].as<std::string>(), "1");
  EXPECT_GT(letter[0]["version"].as<std::int64_t>(), 0);
  EXPECT_EQ(letter[0]["status"].as<int>(), 400);
  const auto type = letter[0]["error_type"].as<std::string>();
  EXPECT_TRUE(type == "mapper_parsing_exception" || type == "document_parsing_exception") << type;
  EXPECT_NE(letter[0]["reason"].as<std::string>().find("title"), std::string::npos)
      << "the reason names the field";
  EXPECT_EQ(letter[0]["alias"].as<std::string>(), posts_.alias());
  EXPECT_NE(letter[0]["view"].as<std::string>().find("posts"), std::string::npos);
}

TEST_F(DeadLetters, ADocumentThatChangesAgainIsTriedAgainAndItsDeadLetterGoesAway) {
  follow();
  execute("update blog.posts set title = 'bad' where id = 1");
  ASSERT_TRUE(wait_until([&] { return dead_letters() == 1; }, kPatience));
  execute("update blog.posts set title = 'still bad' where id = 1");
  EXPECT_TRUE(
      wait_until([&] { return database_.number("select tries from lockstep.dead_letter") == 2; }, kPatience));
  execute("update blog.posts set title = '77' where id = 1");
  EXPECT_TRUE(wait_until([&] { return dead_letters() == 0; }, kPatience));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(DeadLetters, ADeletedDocumentTakesItsDeadLetterWithIt) {
  follow();
  execute(
      "insert into blog.posts (id, title) values (100, 'bad'); update blog.posts set title = 'bad' where id "
      "= 1");
  ASSERT_TRUE(wait_until([&] { return dead_letters() == 2; }, kPatience));
  execute("delete from blog.posts where id in (1, 100)");
  EXPECT_TRUE(wait_until([&] { return dead_letters() == 0; }, kPatience));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(DeadLetters, RefusedDocumentsDoNotStopABackfill) {
  execute(
      "insert into blog.posts (id, title) select i, case when i % 50 = 0 then 'bad' else '1' end "
      "from generate_series(1001, 4000) i");
  bring_up();
  EXPECT_EQ(dead_letters(), 60);
  EXPECT_EQ(posts_.count(), 20 + 3000 - 60);
}

TEST_F(DeadLetters, ManyRefusalsAreFewLinesOfTheLogWithoutAValue) {
  execute(
      "insert into blog.posts (id, title) select i, case when i % 3 = 0 then 'secret ' || i else '1' end "
      "from generate_series(1001, 4000) i");
  pipeline_.apply();
  const Completed run = pipeline_.lockstep("run", {"--until-caught-up"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(dead_letters(), 1'000);
  const std::string said = run.out + run.err;
  EXPECT_EQ(said.find("secret"), std::string::npos) << said;
  EXPECT_NE(said.find("failed to parse field [title]"), std::string::npos) << said;
  EXPECT_LT(std::count(said.begin(), said.end(), '\n'), 20) << said;
  EXPECT_NE(pipeline_.must("dead-letters", {"list"}).find("secret"), std::string::npos)
      << "who asks for it sees it";
}

TEST_F(DeadLetters, AKilledProgramDoesNotForgetThem) {
  follow();
  execute("update blog.posts set title = 'bad' where id = 1");
  ASSERT_TRUE(wait_until([&] { return dead_letters() == 1; }, kPatience));
  restart();
  execute("update blog.posts set title = '2000' where id = 2");
  EXPECT_TRUE(wait_until([&] { return document("2").find("\"2000\"") != std::string::npos; }, kPatience));
  EXPECT_EQ(dead_letters(), 1);
}

TEST_F(DeadLetters, AnOverloadedServerMakesNoDeadLetters) {
  follow();
  proxy_.answer_bulks(3, 429,
                      R"({"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429})");
  execute("update blog.posts set title = '5' where id <= 5");
  EXPECT_TRUE(becomes_equal());
  proxy_.answer_bulks(2, 503, "");
  execute("update blog.posts set title = '6' where id <= 5");
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(dead_letters(), 0);
}

}  // namespace
}  // namespace lockstep::support
