// What status says to a person and to a program.
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class Status : public BlogTest {};

TEST_F(Status, ItFollowsAndCountsWhatItApplied) {
  follow();
  execute("update blog.posts set title = 'changed' where id <= 5; delete from blog.posts where id = 20");
  EXPECT_TRUE(becomes_equal());
  nlohmann::json status;
  EXPECT_TRUE(wait_until(
      [&] {
        status = pipeline_.status();
        return status.at("state") == "following" &&
               status.at("indices").at(posts_.alias()).at("deletes") == 1;
      },
      kPatience))
      << status.dump(2);
  EXPECT_EQ(status.at("pipeline"), "test");
  EXPECT_GE(status.at("indices").at(posts_.alias()).at("documents"), 5);
  EXPECT_EQ(status.at("indices").at(posts_.alias()).at("dead_letters"), 0);
}

TEST_F(Status, ItSaysWhenNobodyRuns) {
  bring_up();
  execute("update blog.posts set title = 'waiting'");
  const nlohmann::json status = pipeline_.status();
  EXPECT_NE(status.at("state"), "following") << status.dump(2);
}

// It was the age of the oldest of some: the parts of the outbox are read in no order.
TEST_F(Status, TheLagIsTheAgeOfTheOldestRowHoweverManyWaitInWhicheverPart) {
  bring_up();
  execute("update blog.posts set title = 'waiting' where id = 1");
  execute(
      "insert into lockstep.outbox (capture, keys, at, slot) "
      "select min(capture), '{2}', clock_timestamp() - interval '1 hour', 2 "
      "from lockstep.outbox");
  execute(
      "insert into lockstep.outbox (capture, keys, slot) "
      "select c.capture, '{3}', s from (select min(capture) as capture from lockstep.outbox) as c, "
      "generate_series(0, 2) as s, generate_series(1, 60000)");
  const nlohmann::json lag = pipeline_.status().at("lag");
  EXPECT_GT(lag.at("seconds"), 3'500);
  EXPECT_EQ(lag.at("rows"), 100'000);
}

TEST_F(Status, TheNextLeaderGoesOnWithTheNotesOfTheObjective) {
  pipeline_.set_more("[slo]\nlag = '5s'\n");
  follow();
  const auto known = [&] {
    const nlohmann::json slo = pipeline_.status().at("slo");
    return slo.is_null() ? 0.0 : slo.at("known_seconds").get<double>();
  };
  ASSERT_TRUE(wait_until([&] { return known() > 2; }, kPatience)) << pipeline_.status().dump(2);
  const double before = known();
  kill();
  execute("update lockstep.pipeline_status set beat_at = beat_at - interval '1 hour'");
  nlohmann::json slo = pipeline_.status().at("slo");
  EXPECT_GT(slo.at("known_seconds"), 3'600);
  EXPECT_LT(slo.at("share"), 0.01) << "nobody has led for an hour";
  restart();
  ASSERT_TRUE(wait_until([&] { return pipeline_.status().at("state") == "following"; }, kPatience));
  slo = pipeline_.status().at("slo");
  EXPECT_GT(slo.at("known_seconds"), 3'600 + before) << slo.dump();
  EXPECT_LT(slo.at("share"), 0.1) << slo.dump();
  EXPECT_NE(pipeline_.must("status").find("freshness   within 5s for "), std::string::npos);
}

TEST_F(Status, ItCountsDeadLetters) {
  pipeline_.set_mapping("posts", R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0},
      "mappings": {"dynamic": false, "properties": {"title": {"type": "integer"}}}})");
  execute("update blog.posts set title = id::text where id <> 3");
  follow();
  nlohmann::json status;
  EXPECT_TRUE(wait_until(
      [&] {
        status = pipeline_.status();
        return status.at("indices").at(posts_.alias()).at("dead_letters") == 1;
      },
      kPatience))
      << status.dump(2);
}

TEST_F(Status, ItIsReadableWithoutJson) {
  follow();
  ASSERT_TRUE(wait_until([&] { return pipeline_.status().at("state") == "following"; }, kPatience));
  const std::string text = pipeline_.must("status");
  EXPECT_NE(text.find("following"), std::string::npos) << text;
  EXPECT_NE(text.find(posts_.alias()), std::string::npos) << text;
}

TEST_F(Status, ItSaysThatAPipelineWasNeverApplied) {
  const Completed status = pipeline_.lockstep("status");
  EXPECT_EQ(status.exit_code, 2) << status.out << status.err;
  EXPECT_NE(status.err.find("apply"), std::string::npos) << status.err;
}

}  // namespace
}  // namespace lockstep::support
