// Values in lockstep's own tables that cannot be, which something else has written: each is named, and stops
// what it belongs to, and nothing else.
#include <gmock/gmock.h>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;
using testing::Not;

// The blog with a second index, of its authors.
class StoredValues : public BlogTest {
 protected:
  StoredValues() {
    execute("create view search.authors as select a.id as _id, a.name from blog.authors a");
    authors_ = &pipeline_.add_index("authors", "search.authors", track("blog.authors"));
    pipeline_.set_more("[http]\nlisten = '127.0.0.1:0'\n");
  }

  /// A job of posts that no lockstep writes; returns its id.
  std::string plant_job(const std::string& kind, const std::string& position) {
    execute("alter table lockstep.job drop constraint if exists job_kind_check");
    execute("insert into lockstep.job (pipeline, index, kind, position, reason) select pipeline, id, '" +
            kind + "', '" + position + "', 'planted' from lockstep.index where alias = '" + posts_.alias() +
            "'");
    return *database_.value("select max(id) from lockstep.job");
  }

  nlohmann::json posts_status() { return pipeline_.status().at("indices").at(posts_.alias()); }
  bool is_set_aside_for(const std::string& reason) {
    return wait_until(
        [&] { return posts_status().at("set_aside").get<std::string>().find(reason) != std::string::npos; },
        kPatience);
  }
  std::string metrics() { return run_program("curl", {"-s", "-S", endpoint() + "/metrics"}).out; }
  bool metrics_say(const std::string& text) {
    return wait_until([&] { return metrics().find(text) != std::string::npos; }, kPatience);
  }
  bool warns_of(const std::string& text) {
    return wait_until(
        [&] { return pipeline_.status().at("warnings").dump().find(text) != std::string::npos; }, kPatience);
  }
  bool authors_follow(const std::string& name) {
    execute("update blog.authors set name = '" + name + "' where id = 1");
    return wait_until([&] { return pipeline_.difference("authors").empty(); }, kPatience);
  }

  ElasticsearchIndex* authors_ = nullptr;
};

TEST_F(StoredValues, AJobOfAnUnknownKindStopsItsIndexAndNoOther) {
  follow();
  const std::string job = plant_job("rebuild", "");
  const std::string named = "reading job " + job + ": its kind is \"rebuild\"";
  ASSERT_TRUE(is_set_aside_for(named)) << posts_status().dump(2);
  EXPECT_TRUE(authors_follow("goes on"));
  const nlohmann::json shown = posts_status().at("jobs").at(0);
  EXPECT_EQ(shown.at("kind"), "rebuild");
  EXPECT_THAT(shown.at("unreadable").get<std::string>(), HasSubstr(named));
  EXPECT_THAT(pipeline_.must("status"), HasSubstr("rebuild (planted): it cannot be done: " + named));
  EXPECT_TRUE(metrics_say("lockstep_unreadable_job{pipeline=\"test\",index=\"" + posts_.alias() +
                          "\",job_id=\"" + job + "\"} 1"));
  EXPECT_THAT(program_->err(), HasSubstr("rebuild"));
  EXPECT_THAT(program_->err(), HasSubstr("delete it"));
  const Completed wait = pipeline_.lockstep("wait", {"--timeout", "1s"});
  EXPECT_NE(wait.exit_code, 0);
  EXPECT_THAT(wait.out + wait.err, HasSubstr("paused"));
  execute("update blog.posts set title = 'meanwhile' where id = 1");
  execute("delete from lockstep.job where id = " + job);
  EXPECT_TRUE(becomes_equal()) << "what the job left out is made up for";
  EXPECT_TRUE(wait_until([&] { return posts_status().at("set_aside") == ""; }, kPatience));
}

TEST_F(StoredValues, ABackfillBehindNoIdIsNamedAsTheJobsPositionAndStaysSo) {
  bring_up();
  const std::string job = plant_job("backfill", "halfway");
  restart();
  ASSERT_TRUE(is_set_aside_for("reading job " + job + ": its position is \"halfway\""))
      << posts_status().dump(2);
  // Lockstep looks every ten seconds whether the index can be followed again.
  EXPECT_TRUE(wait_until(
      [&] {
        return database_.value(
                   "select clock_timestamp() - since > interval '12 seconds' from lockstep.set_aside") == "t";
      },
      kPatience));
  EXPECT_TRUE(authors_follow("goes on"));
  execute("update lockstep.job set position = '7' where id = " + job);
  EXPECT_TRUE(becomes_equal());
}

TEST_F(StoredValues, ARunThatANullEndsLeavesTheCauseInStatus) {
  bring_up();
  execute("alter table lockstep.index alter fields drop not null");
  execute("update lockstep.index set fields = null");
  const Completed run = pipeline_.lockstep("run");
  EXPECT_EQ(run.exit_code, 2);
  const std::string named = "reading lockstep's table index: its column fields is null";
  EXPECT_THAT(run.err, HasSubstr(named));
  const nlohmann::json status = pipeline_.status();
  EXPECT_EQ(status.at("state"), "not_running");
  EXPECT_THAT(status.at("reason").get<std::string>(), HasSubstr(named));
}

TEST_F(StoredValues, ANullInTheCheckpointEndsRunAndIsNamed) {
  for (const std::string column : {"last_id", "epoch"}) {
    bring_up();
    execute("alter table lockstep.checkpoint alter " + column + " drop not null");
    execute("update lockstep.checkpoint set " + column + " = null");
    const std::string named = "reading lockstep's table checkpoint: its column " + column + " is null";
    const Completed run = pipeline_.lockstep("run");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr(named));
    const Completed status = pipeline_.lockstep("status");
    EXPECT_EQ(status.exit_code, 1);
    EXPECT_THAT(status.err, HasSubstr(named));
    const Completed wait = pipeline_.lockstep("wait", {"--timeout", "1s"});
    EXPECT_THAT(wait.err, HasSubstr(named));
    execute("update lockstep.checkpoint set " + column + " = 1");
  }
}

TEST_F(StoredValues, ARowOfTheOutboxOfAnUnknownCaptureIsSaid) {
  follow();
  execute("insert into lockstep.outbox (capture, keys) values (4711, '{1}')");
  EXPECT_TRUE(warns_of("capture 4711"));
  EXPECT_THAT(program_->err(), HasSubstr("capture 4711"));
  EXPECT_TRUE(metrics_say("lockstep_warnings{pipeline=\"test\"} 1"));
  EXPECT_TRUE(authors_follow("goes on"));
}

TEST_F(StoredValues, RowsThatATrackLeftBehindAreNoWarning) {
  bring_up();
  pipeline_.set_tracks("posts", blog_tracks() + track("blog.posts", {{"row", "id + 1000"}}));
  pipeline_.apply();
  execute("update blog.posts set title = 'two captures' where id = 1");
  pipeline_.set_tracks("posts", blog_tracks());
  pipeline_.apply();
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  program_ = pipeline_.start();
  EXPECT_TRUE(authors_follow("goes on"));
  EXPECT_THAT(program_->err(), Not(HasSubstr("which no pipeline has")));
}

TEST_F(StoredValues, ASetAsideRowOfAnUnknownIndexIsSaid) {
  follow();
  execute("alter table lockstep.set_aside drop constraint set_aside_index_fkey");
  execute("insert into lockstep.set_aside (index, reason) values (4711, 'planted')");
  EXPECT_TRUE(warns_of("index 4711"));
  EXPECT_THAT(program_->err(), HasSubstr("index 4711"));
  EXPECT_TRUE(metrics_say("lockstep_warnings{pipeline=\"test\"} 1"));
}

TEST_F(StoredValues, AStateThatNobodyKnowsIsSaidByStatus) {
  follow();
  ASSERT_TRUE(wait_until([&] { return pipeline_.status().at("state") == "following"; }, kPatience));
  kill();
  execute("update lockstep.pipeline_status set state = 'dancing', beat_at = clock_timestamp()");
  EXPECT_THAT(pipeline_.must("status"),
              HasSubstr("its state is \"dancing\", which this lockstep does not know"));
}

}  // namespace
}  // namespace lockstep::support
