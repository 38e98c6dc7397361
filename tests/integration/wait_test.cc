// What `lockstep wait` and POST /wait promise: what was committed before is in Elasticsearch when they
// return, and they say why when they give up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;

class Wait : public BlogTest {
 protected:
  Completed wait(const std::vector<std::string>& arguments = {}) {
    return pipeline_.lockstep("wait", arguments);
  }
  std::unique_ptr<Program> start_wait(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"wait", "-c", pipeline_.configuration().string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return std::make_unique<Program>(lockstep_program(), all);
  }

  static std::string xid_of(pqxx::transaction_base& transaction) {
    return transaction.exec1("select pg_current_xact_id()")[0].c_str();
  }
  std::string committed(const std::string& sql) {
    const auto connection = database_.connect();
    pqxx::work transaction(*connection);
    transaction.exec(sql);
    std::string xid = xid_of(transaction);
    transaction.commit();
    return xid;
  }

  /// What a search finds, which sees nothing that was not refreshed.
  std::string found(const std::string& id) {
    const auto reply = posts_.server().expect("POST", "/" + posts_.alias() + "/_search",
                                              R"({"query":{"ids":{"values":[")" + id + R"("]}}})");
    const auto& hits = reply.at("hits").at("hits");
    return hits.empty() ? "none" : hits.at(0).at("_source").dump();
  }

  /// JSON and, behind it, the status.
  std::string post(const std::string& parameters) {
    return run_program("curl", {"-s", "-S", "-X", "POST", "-o", "-", "-w", "%{http_code}",
                                endpoint() + "/wait" + parameters})
        .out;
  }
};

TEST_F(Wait, WhatWasCommittedBeforeIsThere) {
  follow();
  for (int i = 0; i < 20; ++i) {
    const std::string title = "title " + std::to_string(i);
    const std::string xid = committed("update blog.posts set title = '" + title + "' where id = 1");
    const Completed waited = i % 2 == 0 ? wait() : wait({"--xid", xid});
    ASSERT_EQ(waited.exit_code, 0) << waited.err;
    ASSERT_THAT(document("1"), HasSubstr(title));
    EXPECT_EQ(waited.out, "");
  }
}

TEST_F(Wait, WithRefreshItIsSearchable) {
  follow();
  execute("update blog.posts set title = 'not refreshed' where id = 1");
  ASSERT_EQ(wait().exit_code, 0);
  ASSERT_THAT(document("1"), HasSubstr("not refreshed"));
  EXPECT_THAT(found("1"), Not(HasSubstr("not refreshed"))) << "the test would prove nothing";
  execute("update blog.posts set title = 'refreshed' where id = 1");
  ASSERT_EQ(wait({"--refresh"}).exit_code, 0);
  EXPECT_THAT(found("1"), HasSubstr("\"refreshed\""));
}

TEST_F(Wait, AfterBatchMakesEveryBatchSearchable) {
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1, 'post ' || i from generate_series(1001, "
      "4000) i");
  pipeline_.set_more(
      "[replication]\nrefresh = 'after_batch'\nfan_out_threshold = 1000\nchunk_documents = 200\n");
  follow();
  for (int i = 0; i < 10; ++i) {
    const std::string title = "title " + std::to_string(i);
    execute("update blog.posts set title = '" + title + "' where id = 1");
    ASSERT_EQ(wait().exit_code, 0);
    ASSERT_THAT(found("1"), HasSubstr(title));
  }
  execute("update blog.authors set name = 'renamed' where id = 1");
  ASSERT_EQ(wait().exit_code, 0);
  EXPECT_EQ(posts_.server()
                .expect("POST", "/" + posts_.alias() + "/_count", R"({"query":{"ids":{"values":["1001"]}}})")
                .at("count"),
            1);
  for (const char* id : {"1001", "2500", "4000"}) EXPECT_THAT(found(id), HasSubstr("\"renamed\"")) << id;
  EXPECT_TRUE(is_equal());
}

TEST_F(Wait, AnOpenTransactionIsWaitedForByItsNumberOnly) {
  follow();
  const auto connection = database_.connect();
  pqxx::work transaction(*connection);
  transaction.exec("update blog.posts set title = 'open' where id = 1");
  const std::string xid = xid_of(transaction);
  EXPECT_EQ(wait().exit_code, 0) << "it is not committed now";
  const Completed early = wait({"--xid", xid, "--timeout", "200ms"});
  EXPECT_EQ(early.exit_code, 1);
  EXPECT_THAT(early.err, HasSubstr("not within 200ms: transaction " + xid + " is still open")) << early.err;
  const auto waiting = start_wait({"--xid", xid});
  ASSERT_TRUE(wait_until(
      [&] {
        return database_.number(
                   "select count(*) from pg_stat_activity where application_name like '%wait' "
                   "and query like '%pg_xact_status%'") > 0;
      },
      kPatience));
  EXPECT_TRUE(waiting->running());
  transaction.commit();
  EXPECT_EQ(waiting->wait(kPatience), 0) << waiting->err();
  EXPECT_THAT(document("1"), HasSubstr("\"open\""));
}

TEST_F(Wait, ATransactionThatIsRolledBackOrUnknownIsAnsweredAtOnce) {
  follow();
  std::string xid;
  {
    const auto connection = database_.connect();
    pqxx::work transaction(*connection);
    transaction.exec("update blog.posts set title = 'never' where id = 1");
    xid = xid_of(transaction);
  }
  const Completed rolled_back = wait({"--xid", xid, "--timeout", "0"});
  EXPECT_EQ(rolled_back.exit_code, 1);
  EXPECT_THAT(rolled_back.err, HasSubstr("transaction " + xid + " was rolled back"));
  const Completed unknown = wait({"--xid", "9000000000000000000", "--timeout", "0"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no transaction 9000000000000000000 has begun"));
  EXPECT_EQ(wait({"--xid", "3", "--timeout", "0"}).exit_code, 0) << "nobody remembers it: it is old";
  EXPECT_EQ(wait({"--xid", "x"}).exit_code, 2);
  EXPECT_EQ(wait({"--timeout", "soon"}).exit_code, 2);
}

TEST_F(Wait, ChangesOfOtherTablesAreNotWaitedFor) {
  follow();
  ASSERT_EQ(wait().exit_code, 0);
  kill();  // so that nothing can move the checkpoint
  const std::string xid = committed("create table public.others (id integer); insert into others values (1)");
  EXPECT_EQ(wait({"--timeout", "1s"}).exit_code, 0);
  EXPECT_EQ(wait({"--xid", xid, "--timeout", "1s"}).exit_code, 0);
}

TEST_F(Wait, AFanOutIsWaitedForToItsEnd) {
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1, 'post ' || i from generate_series(1001, "
      "9000) i");
  pipeline_.set_more("[replication]\nfan_out_threshold = 1000\nchunk_documents = 200\n");
  follow();
  proxy_.disturb([](const HttpMessage& request) -> std::optional<Disturbance> {
    if (!RecordingProxy::is_bulk(request) || request.body.size() < 10'000) return std::nullopt;
    return Disturbance{.delay = 50ms};
  });
  for (const bool by_number : {false, true}) {
    const std::string name = by_number ? "by number" : "by time";
    const std::string xid = committed("update blog.authors set name = '" + name + "' where id = 1");
    const Completed waited = by_number ? wait({"--xid", xid}) : wait();
    ASSERT_EQ(waited.exit_code, 0) << waited.err;
    EXPECT_TRUE(is_equal());
  }
  proxy_.disturb([](const HttpMessage& request) -> std::optional<Disturbance> {
    if (!RecordingProxy::is_bulk(request) || request.body.size() < 10'000) return std::nullopt;
    return Disturbance{.lose_request = true};
  });
  execute("update blog.authors set name = 'stuck' where id = 1");
  ASSERT_TRUE(
      wait_until([&] { return database_.number("select count(*) from lockstep.due") > 0; }, kPatience));
  const Completed late = wait({"--timeout", "500ms"});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err,
              AllOf(HasSubstr("not all is written yet: "), HasSubstr("of " + posts_.alias() + " are due")));
  proxy_.disturb({});
  EXPECT_EQ(wait().exit_code, 0);
  EXPECT_TRUE(is_equal());
}

TEST_F(Wait, WithoutALeaderItSaysSoAndOneThatComesLaterEndsIt) {
  EXPECT_EQ(wait().exit_code, 2) << "not applied";
  bring_up();
  execute("update blog.posts set title = 'later' where id = 1");
  const Completed late = wait({"--timeout", "200ms"});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err, HasSubstr("no process leads the pipeline: start `lockstep run`"));
  const auto waiting = start_wait({"--timeout", "0"});
  restart();
  EXPECT_EQ(waiting->wait(kPatience), 0) << waiting->err();
  EXPECT_THAT(document("1"), HasSubstr("later"));
}

TEST_F(Wait, ElasticsearchIsWaitedForAndRefusedDocumentsAreNot) {
  pipeline_.set_mapping("posts", R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0},
      "mappings": {"dynamic": false, "properties": {"title": {"type": "integer"}}}})");
  execute("update blog.posts set title = id::text");
  follow();
  proxy_.disturb([](const HttpMessage&) { return Disturbance{.lose_request = true}; });
  execute("update blog.posts set title = '77' where id = 7");
  const Completed late = wait({"--timeout", "300ms"});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err, HasSubstr("changes are pending"));
  proxy_.disturb({});
  ASSERT_EQ(wait().exit_code, 0);
  EXPECT_THAT(document("7"), HasSubstr("77"));
  execute("update blog.posts set title = 'no number' where id = 3");
  EXPECT_EQ(wait().exit_code, 0) << "a dead letter is an outcome";
  EXPECT_EQ(dead_letters(), 1);
}

TEST_F(Wait, AnIndexThatIsSetAsideIsNotInStep) {
  follow();
  ASSERT_EQ(wait().exit_code, 0);
  execute(
      "create or replace view search.posts as select p.id as _id, p.author_id as _author_id, p.title, "
      "p.body, (1 / (p.id - p.seen))::text as author, null::text[] as comments from blog.posts p");
  execute("update blog.posts set title = 'set aside', seen = 1 where id = 1");
  const auto told = [&] { return wait({"--timeout", "100ms"}).err; };
  EXPECT_TRUE(wait_until(
      [&] { return told().find("an index is paused: " + posts_.alias()) != std::string::npos; }, kPatience))
      << told();
}

TEST_F(Wait, ByHttpItIsTheSame) {
  pipeline_.set_more("[http]\nlisten = '127.0.0.1:0'\n");
  follow();
  for (int i = 0; i < 10; ++i) {
    const std::string title = "title " + std::to_string(i);
    const std::string xid = committed("update blog.posts set title = '" + title + "' where id = 1");
    const std::string reply = post(i % 2 == 0 ? "?timeout=30s" : "?refresh=true&xid=" + xid);
    ASSERT_TRUE(reply.starts_with("{\"applied\":true") && reply.ends_with("200")) << reply;
    ASSERT_THAT(document("1"), HasSubstr(title));
    if (i % 2 == 1) {
      ASSERT_THAT(found("1"), HasSubstr(title));
    }
  }
  const auto connection = database_.connect();
  std::string xid;
  {
    pqxx::work transaction(*connection);
    xid = xid_of(transaction);
    const std::string open = post("?timeout=100ms&xid=" + xid);
    EXPECT_THAT(open, HasSubstr("transaction " + xid + " is still open"));
    EXPECT_TRUE(open.ends_with("504")) << open;
  }
  EXPECT_TRUE(post("?xid=" + xid).ends_with("409"));
  EXPECT_TRUE(post("?xid=9000000000000000000").ends_with("400"));
  EXPECT_TRUE(post("?timeout=tomorrow").ends_with("400"));
  pqxx::work transaction(*connection);
  const Program waiting("curl",
                        {"-s", "-X", "POST", endpoint() + "/wait?timeout=5m&xid=" + xid_of(transaction)});
  ASSERT_TRUE(wait_until(
      [&] {
        return database_.number(
                   "select count(*) from pg_stat_activity where application_name like '%wait' "
                   "and state = 'idle' and now() - state_change < interval '1 second'") > 0;
      },
      kPatience));
  program_->signal(SIGTERM);
  EXPECT_EQ(program_->wait(5s), 0) << "a waiter holds nothing up";
}

}  // namespace
}  // namespace lockstep::support
