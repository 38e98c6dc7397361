// An index that is new is filled while changes flow, and goes on where it was when the program dies on the
// way.
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

constexpr int kDocuments = 20'000;

class Backfill : public BlogTest {
 protected:
  Backfill() {
    execute(
        "insert into blog.posts (id, author_id, title) select i, 1 + i % 5, 'post ' || i from "
        "generate_series(1001, " +
        std::to_string(1000 + kDocuments) + ") i");
    pipeline_.apply();
  }

  /// An index of the authors. Where `which` holds, a document takes three seconds to render in a page of a
  /// job, and no time in all that `apply` tries.
  ElasticsearchIndex& add_slow_index(const std::string& which) {
    execute("create view search.slow as select id as _id, case when " + which +
            " and current_setting('application_name') like '%pages of jobs' then pg_sleep(3)::text else name "
            "end as slept from blog.authors");
    ElasticsearchIndex& slow = pipeline_.add_index("slow", "search.slow", track("blog.authors"));
    pipeline_.apply();
    return slow;
  }

  /// Whether one of its pages is being read.
  bool reads_slow_page() {
    return database_.number(
               "select count(*) from pg_stat_activity where datname = current_database() and state = "
               "'active' and application_name like '%pages of jobs' and query like '%search.slow%'") == 1;
  }
};

TEST_F(Backfill, DocumentsThatChangeMeanwhileAreNotPutBack) {
  proxy_.disturb([](const HttpMessage& request) -> std::optional<Disturbance> {
    return RecordingProxy::is_bulk(request) ? std::optional(Disturbance{.delay = 100ms}) : std::nullopt;
  });
  restart();
  const auto change = [this](int writer) {
    const auto connection = database_.connect();
    for (int i = writer; i < 200; i += 2) {
      const std::string modulo = " where id % 200 = " + std::to_string(i) + " and id > 1000";
      support::execute(*connection, "update blog.posts set title = title || ' changed'" + modulo);
      if (i % 3 == 0)
        support::execute(*connection, "delete from blog.posts" + modulo + " and id % 400 < 200");
      if (i % 5 == 0) {
        support::execute(*connection, "insert into blog.posts (id, author_id, title) values (" +
                                          std::to_string(50'000 + i) + ", 1, 'new')");
      }
    }
  };
  std::thread one(change, 0);
  std::thread two(change, 1);
  one.join();
  two.join();
  proxy_.disturb({});
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(proxy_.history().overlaps().empty()) << proxy_.history().overlaps().front();
}

// What a backfill has done is saved every 200 ms: it has to last for longer than that.
TEST_F(Backfill, AKilledBackfillIsResumedNotBegunAgain) {
  proxy_.disturb([](const HttpMessage& request) {
    return RecordingProxy::is_bulk(request) ? std::optional(Disturbance{.delay = 100ms}) : std::nullopt;
  });
  restart();
  ASSERT_TRUE(wait_until([&] { return proxy_.history().applied() > kDocuments * 3 / 4; }, kPatience, 1ms));
  kill();
  proxy_.disturb({});
  const auto before = proxy_.history().operations();
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  EXPECT_LT(proxy_.history().operations() - before, kDocuments * 3 / 4) << "it wrote everything once more";
}

TEST_F(Backfill, ChangesThatCommitDuringItDoNotWaitForItsEnd) {
  proxy_.disturb([](const HttpMessage& request) -> std::optional<Disturbance> {
    const bool large = RecordingProxy::is_bulk(request) && request.body.size() > 10'000;
    return large ? std::optional(Disturbance{.delay = 500ms}) : std::nullopt;
  });
  restart();
  ASSERT_TRUE(wait_until([&] { return proxy_.history().applied() > 0; }, kPatience));
  execute("insert into blog.posts (id, author_id, title) values (90000, 1, 'meanwhile')");
  EXPECT_TRUE(appears("90000"));
  EXPECT_GT(database_.number("select count(*) from lockstep.job"), 0)
      << "the backfill was over too soon to tell";
  proxy_.disturb({});
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Backfill, APageThatTakesLongHoldsUpNeitherChangesNorAStop) {
  pipeline_.catch_up();
  add_slow_index("true");
  const auto program = pipeline_.start();
  ASSERT_TRUE(wait_until([&] { return reads_slow_page(); }, kPatience));
  execute("insert into blog.posts (id, author_id, title) values (90000, 1, 'meanwhile')");
  EXPECT_TRUE(appears("90000"));
  EXPECT_TRUE(reads_slow_page()) << "the page was read too soon to tell";
  program->signal(SIGTERM);
  EXPECT_EQ(program->wait(5s), 0);
}

// Elasticsearch forgets the version of a deletion after index.gc_deletes, a minute by default.
TEST_F(Backfill, ADocumentThatIsDeletedWhileItsPageIsReadStaysDeletedThoughItsVersionIsForgotten) {
  execute("insert into blog.authors (id, name) values (90, 'gone'), (91, 'renamed')");
  pipeline_.catch_up();
  ElasticsearchIndex& slow = add_slow_index("id = 90");
  slow.server().expect("PUT", "/" + slow.alias() + "/_settings", R"({"index.gc_deletes": "1ms"})");
  restart();
  ASSERT_TRUE(wait_until([&] { return reads_slow_page(); }, kPatience));
  execute(
      "begin; delete from blog.authors where id = 90; update blog.authors set name = 'new' where id = 91; "
      "insert into blog.posts (id, author_id, title) values (90000, 1, 'after it'); commit");
  EXPECT_TRUE(appears("90000"));
  EXPECT_TRUE(reads_slow_page()) << "the page was read too soon to tell";
  slow.server().expect("POST", "/" + slow.alias() + "/_refresh");
  ASSERT_TRUE(
      wait_until([&] { return database_.number("select count(*) from lockstep.job") == 0; }, kPatience));
  EXPECT_FALSE(slow.get("90"));
  EXPECT_EQ(slow.get("91")->json, R"({"slept":"new"})");
}

// It had no total, and the time left was by the age of its row, whoever had run it.
TEST_F(Backfill, OneThatATruncateCausedHasATotalAndATimeLeftWhileItIsRun) {
  pipeline_.set_more("[replication]\nchunk_documents = 500\n");
  execute("analyze; delete from lockstep.job; truncate blog.comments");
  proxy_.disturb([](const HttpMessage& request) {
    return RecordingProxy::is_bulk(request) ? std::optional(Disturbance{.delay = 500ms}) : std::nullopt;
  });
  restart();
  const auto backfill = [this] {
    const nlohmann::json status = pipeline_.status();
    for (const nlohmann::json& job : status.at("indices").at(posts_.alias()).at("jobs"))
      if (job.at("kind") == "backfill") return job;
    return nlohmann::json{{"seconds_left", nullptr}};
  };
  nlohmann::json job;
  ASSERT_TRUE(wait_until([&] { return (job = backfill()).at("seconds_left").is_number(); }, kPatience));
  EXPECT_GT(job.at("total"), kDocuments / 2) << job.dump();
  EXPECT_LT(job.at("seconds_left"), 600) << job.dump();
  kill();
  execute("update lockstep.pipeline_status set beat_at = beat_at - interval '1 hour'");
  job = backfill();
  EXPECT_GT(job.at("total"), 0) << "it is stored with the job";
  EXPECT_TRUE(job.at("seconds_left").is_null()) << "nobody runs it: " << job.dump();
  EXPECT_NE(pipeline_.must("status").find(" of about "), std::string::npos);
}

TEST_F(Backfill, AnIndexThatIsAddedLaterIsFilledBesideTheOthers) {
  pipeline_.catch_up();
  execute("create view search.authors as select id as _id, name from blog.authors");
  pipeline_.add_index("authors", "search.authors", track("blog.authors"));
  const auto before = proxy_.history().operations();
  pipeline_.apply();
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  EXPECT_LT(proxy_.history().operations() - before, 100) << "the index that was there was filled again";
}

TEST_F(Backfill, AnEmptyViewMakesAnEmptyIndex) {
  execute("truncate blog.posts cascade");
  pipeline_.catch_up();
  EXPECT_EQ(posts_.count(), 0);
  EXPECT_TRUE(is_equal());
}

}  // namespace
}  // namespace lockstep::support
