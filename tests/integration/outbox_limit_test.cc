// Nobody consumes the outbox for long: with a limit it takes no more than so much of the disk, and what was
// dropped is made up for (promise 1).
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {
namespace {

constexpr std::int64_t kLimit = 1 << 20;

class OutboxLimit : public testing::Test {
 protected:
  OutboxLimit() : pipeline_(database_) {
    database_.execute(
        "create table counters (id integer primary key, n bigint not null); "
        "insert into counters select i, 0 from generate_series(1, 3000) i; "
        "create view docs as select id as _id, n from counters");
    pipeline_.add_index("counters", "public.docs", track("public.counters"));
    limit("\"1MiB\"");
    pipeline_.apply();
    pipeline_.catch_up();
  }

  void limit(const std::string& size) { pipeline_.set_more("[replication]\nmax_outbox_size = " + size); }

  void fill() {
    for (int i = 0; i < 2'000 && !is_full(); ++i) database_.execute("update counters set n = n + 1");
    ASSERT_TRUE(given_up());
  }

  // Writes so much in steps, each of which is consumed and removed before the next one.
  void write_and_see_it_go(std::int64_t bytes_in_all) {
    for (std::int64_t written = 0; written < bytes_in_all;) {
      const std::int64_t before = on_disk();
      for (int i = 0; i < 5; ++i) database_.execute("update counters set n = n + 1");
      written += std::max<std::int64_t>(on_disk() - before, 30'000);
      ASSERT_TRUE(wait_until([&] { return on_disk() < kLimit / 2; }, kPatience)) << on_disk();
      ASSERT_EQ(database_.number("select last_value from lockstep.capture_state"), 1) << written;
    }
  }
  std::int64_t on_disk() {
    return database_.number("select sum(l.bytes) from lockstep.outbox_leaves() as l");
  }
  bool is_full() { return database_.number("select last_value from lockstep.capture_state") == 2; }
  bool follows() {
    return wait_until([&] { return pipeline_.status().at("state") == "following"; }, kPatience);
  }

  bool given_up() const { return pipeline_.status().at("outbox").at("given_up"); }
  bool warned() const {
    return pipeline_.status().at("warnings").dump().find("changes were dropped") != std::string::npos;
  }
  std::int64_t bytes() const { return pipeline_.status().at("outbox").at("bytes"); }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
};

TEST_F(OutboxLimit, AFullOutboxStopsGrowingAndEverythingIsComparedAfterwards) {
  fill();
  const std::int64_t full = bytes();
  EXPECT_GT(full, kLimit);
  EXPECT_LT(full, 2 * kLimit);
  const std::int64_t rows = database_.number("select count(*) from lockstep.outbox");
  for (int i = 0; i < 20; ++i) database_.execute("update counters set n = n + 1");
  database_.execute(
      "delete from counters where id < 10; insert into counters values (5000, 1); "
      "update counters set id = 6000 where id = 20");
  EXPECT_EQ(database_.number("select count(*) from lockstep.outbox"), rows);
  EXPECT_EQ(bytes(), full);

  const Completed run = pipeline_.lockstep("run", {"--until-caught-up"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.err.find("the outbox had reached replication.max_outbox_size"), std::string::npos) << run.err;
  EXPECT_EQ(pipeline_.difference(), "");
  EXPECT_FALSE(given_up());
  EXPECT_LT(bytes(), kLimit);

  database_.execute("update counters set n = n + 1 where id = 100; delete from counters where id = 101");
  EXPECT_GT(database_.number("select count(*) from lockstep.outbox"), 0) << "changes are noted again";
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.difference(), "");
  ASSERT_NO_FATAL_FAILURE(fill());
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.difference(), "") << "after the second time";
}

TEST_F(OutboxLimit, WritersOfSingleRowsFindItFullToo) {
  database_.execute(
      "insert into lockstep.outbox (capture, keys) select max(c.id), array_agg((100000 + i)::text) "
      "from lockstep.capture c, generate_series(1, 400000) i group by i % 400");
  for (int i = 0; i < 600 && !is_full(); ++i) {
    database_.execute("update counters set n = n + 1 where id = " + std::to_string(1 + i));
  }
  EXPECT_TRUE(given_up());
  database_.execute("update counters set n = 7 where id = 2500");
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.difference(), "");
}

TEST_F(OutboxLimit, ATransactionThatWasLeftOutIsWaitedFor) {
  fill();
  const auto writer = database_.connect();
  execute(*writer, "begin isolation level repeatable read; update counters set n = -1 where id = 7");
  const auto prepared = database_.connect();
  execute(*prepared, "begin; update counters set n = -2 where id = 8; prepare transaction 'left out'");
  const std::unique_ptr<Program> program = pipeline_.start();
  ASSERT_TRUE(wait_until(
      [&] { return database_.number("select last_value from lockstep.capture_state") == 3; }, kPatience))
      << program->err();
  // Changes are noted again, and followed, while the comparison waits.
  database_.execute("update counters set n = -3 where id = 9");
  ASSERT_TRUE(wait_until(
      [&] {
        const auto document = pipeline_.index("counters").get("9");
        return document && document->json.find("-3") != std::string::npos;
      },
      kPatience))
      << program->err();
  EXPECT_TRUE(given_up());
  EXPECT_TRUE(wait_until([&] { return warned(); }, kPatience)) << pipeline_.status().dump();
  execute(*writer, "update counters set n = -4 where id = 10; commit");
  EXPECT_TRUE(given_up()) << "one is still prepared";
  execute(*prepared, "commit prepared 'left out'");
  EXPECT_EQ(pipeline_.difference_within(kPatience), "") << program->err();
  EXPECT_TRUE(wait_until([&] { return !given_up(); }, kPatience));
}

TEST_F(OutboxLimit, WhatIsConsumedMakesNobodyGiveUp) {
  const std::unique_ptr<Program> program = pipeline_.start();
  ASSERT_TRUE(follows());
  write_and_see_it_go(2 * kLimit);
  EXPECT_EQ(pipeline_.difference_within(kPatience), "") << program->err();
  EXPECT_EQ(program->err().find("max_outbox_size"), std::string::npos) << program->err();
}

TEST_F(OutboxLimit, TransactionsThatStayOpenMakeNobodyGiveUp) {
  const std::unique_ptr<Program> program = pipeline_.start();
  ASSERT_TRUE(follows());
  const auto idle = database_.connect();
  execute(*idle, "begin; select pg_current_xact_id()");
  const auto writer = database_.connect();
  execute(*writer, "begin; insert into counters values (10001, 1)");
  const auto prepared = database_.connect();
  execute(*prepared, "begin; insert into counters values (10002, 1); prepare transaction 'stays'");
  write_and_see_it_go(3 * kLimit / 2);
  execute(*writer, "insert into counters values (10003, 1)");
  write_and_see_it_go(kLimit / 2);
  execute(*writer, "insert into counters values (10004, 1); commit");
  execute(*prepared, "commit prepared 'stays'");
  execute(*idle, "commit");
  EXPECT_EQ(pipeline_.difference_within(kPatience), "") << program->err();
  EXPECT_EQ(program->err().find("max_outbox_size"), std::string::npos) << program->err();
}

TEST_F(OutboxLimit, ABackupMayHoldTwiceTheLimitOnDiskAndNoMore) {
  const std::unique_ptr<Program> program = pipeline_.start();
  ASSERT_TRUE(follows());
  const auto backup = database_.connect();
  execute(*backup, "begin; select count(*) from lockstep.outbox");
  while (on_disk() < 3 * kLimit / 2) {
    for (int i = 0; i < 3; ++i) database_.execute("update counters set n = n + 1");
    ASSERT_FALSE(is_full()) << on_disk();
    ASSERT_TRUE(wait_until(
        [&] {
          return database_.number("select max(l.bytes - l.passed) from lockstep.outbox_leaves() as l") <
                 kLimit / 4;
        },
        kPatience));
  }
  for (int i = 0; i < 300; ++i) database_.execute("update counters set n = n + 1");
  EXPECT_LT(on_disk(), 3 * kLimit);
  EXPECT_TRUE(given_up());
  execute(*backup, "commit");
  EXPECT_TRUE(wait_until([&] { return !given_up(); }, kPatience)) << program->err();
  EXPECT_EQ(pipeline_.difference_within(kPatience), "") << program->err();
  EXPECT_TRUE(wait_until([&] { return on_disk() < kLimit; }, kPatience));
}

TEST_F(OutboxLimit, TheLimitHoldsWhileATransactionThatWasLeftOutIsPrepared) {
  fill();
  const auto prepared = database_.connect();
  execute(*prepared, "begin; update counters set n = -2 where id = 8; prepare transaction 'left out still'");
  {
    const std::unique_ptr<Program> program = pipeline_.start();
    ASSERT_TRUE(wait_until(
        [&] { return database_.number("select last_value from lockstep.capture_state") == 3; }, kPatience))
        << program->err();
    program->signal(SIGTERM);
    ASSERT_EQ(program->wait(kPatience), 0) << program->err();
  }
  for (int i = 0; i < 2'000 && !is_full(); ++i)
    database_.execute("update counters set n = n + 1 where id <> 8");
  EXPECT_TRUE(is_full());
  EXPECT_LT(on_disk(), 3 * kLimit);
  const std::int64_t full = on_disk();
  for (int i = 0; i < 20; ++i) database_.execute("update counters set n = n + 1 where id <> 8");
  EXPECT_EQ(on_disk(), full);
  execute(*prepared, "commit prepared 'left out still'");
  pipeline_.must("run", {"--until-caught-up"}, 5 * kPatience);
  EXPECT_EQ(pipeline_.difference(), "");
  EXPECT_FALSE(given_up());
}

TEST_F(OutboxLimit, ATruncatedTableIsComparedToo) {
  fill();
  database_.execute("truncate counters; insert into counters values (1, 1)");
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.difference(), "");
}

TEST_F(OutboxLimit, TheSchemaMayHaveAnyName) {
  PipelineUnderTest other(database_);
  other.set_name("other");
  other.set_schema("Any 'name'; \"--\" $lockstep");
  other.set_more("[replication]\nmax_outbox_size = \"1MiB\"");
  other.add_index("again", "public.docs", track("public.counters"));
  other.apply();
  other.catch_up();
  const auto is_full = [&] { return other.status().at("outbox").at("given_up").get<bool>(); };
  for (int i = 0; i < 2'000 && !is_full(); ++i) database_.execute("update counters set n = n + 1");
  EXPECT_TRUE(is_full());
  database_.execute("delete from counters where id < 10");
  other.catch_up();
  EXPECT_EQ(other.difference(), "");
  EXPECT_FALSE(is_full());
}

TEST_F(OutboxLimit, PlanShowsWhatChanges) {
  EXPECT_EQ(pipeline_.lockstep("plan", {"--exit-code"}).exit_code, 0);
  limit("\"2MiB\"");
  const Completed larger = pipeline_.lockstep("plan", {"--exit-code"});
  EXPECT_EQ(larger.exit_code, 3);
  EXPECT_NE(larger.out.find("limit of the outbox"), std::string::npos) << larger.out;
  EXPECT_EQ(larger.out.find("function"), std::string::npos) << larger.out;
  pipeline_.apply();
  EXPECT_EQ(pipeline_.lockstep("plan", {"--exit-code"}).exit_code, 0);
  EXPECT_EQ(pipeline_.status().at("outbox").at("max_bytes"), 2 * kLimit);
  limit("\"0B\"");
  pipeline_.apply();
  EXPECT_TRUE(pipeline_.status().at("outbox").at("max_bytes").is_null());
  for (int i = 0; i < 160; ++i) database_.execute("update counters set n = n + 1");
  EXPECT_GT(bytes(), 2 * kLimit);
  EXPECT_FALSE(given_up());
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.difference(), "");
}

}  // namespace
}  // namespace lockstep::support
