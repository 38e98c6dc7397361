// A source that crashes, is put back to an older state, or is written by sessions with settings of their own.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/blog_pipeline.h"
#include "tests/support/private_postgres.h"

namespace lockstep::support {
namespace {

constexpr const char* kCounters =
    "create table counters (id integer primary key, n bigint not null); "
    "insert into counters select i, 0 from generate_series(1, 50) i; "
    "create view docs as select id as _id, n from counters";

// Commits that were reported and not yet flushed are gone after a crash; Elasticsearch must not have seen
// them, or must be brought back, and ids of transactions come again.
TEST(SourceFaults, CrashesOfPostgresLeaveNoDocumentThatDiffers) {
  PrivatePostgres server({"synchronous_commit=off", "wal_writer_delay=10s"});
  PostgresDatabase database(server.url());
  database.execute(kCounters);
  RecordingProxy proxy;
  PipelineUnderTest pipeline(database, proxy.url());
  pipeline.add_index("counters", "public.docs", track("public.counters"));
  pipeline.apply();
  auto program = pipeline.start();
  for (int crash = 0; crash < 2; ++crash) {
    const auto enough = proxy.history().applied() + 200;
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (int i = 0; proxy.history().applied() < enough; ++i) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << program->err();
      database.execute("update counters set n = n + 1 where id = " + std::to_string(1 + i % 50));
    }
    server.crash();
    database.reconnect();
  }
  database.execute("update counters set n = n + 1 where id = 1");
  EXPECT_EQ(pipeline.difference_within(kPatience), "") << program->err();
  EXPECT_TRUE(program->running()) << program->err();
  program->kill();
  EXPECT_EQ(proxy.history().violations(), std::vector<std::string>{});
}

TEST(SourceFaults, ACommitThatWaitsForAMissingStandbyIsSaid) {
  PrivatePostgres server;
  PostgresDatabase database(server.url());
  database.execute(kCounters);
  PipelineUnderTest pipeline(database);
  pipeline.add_index("counters", "public.docs", track("public.counters"));
  pipeline.apply();
  const auto program = pipeline.start();
  ASSERT_EQ(pipeline.difference_within(kPatience), "") << program->err();
  database.execute("alter system set synchronous_standby_names = 'nobody'");
  database.execute("select pg_reload_conf()");
  database.execute("set synchronous_commit = local");
  ASSERT_TRUE(
      wait_until([&] { return database.value("show synchronous_standby_names") == "nobody"; }, kPatience));
  database.execute("update counters set n = n + 1");
  constexpr const char* kSaid = "a commit waits for the disk, and for a synchronous standby";
  constexpr std::chrono::seconds kSaidWithin{15};
  EXPECT_TRUE(
      wait_until([&] { return pipeline.status().dump().find(kSaid) != std::string::npos; }, kSaidWithin))
      << pipeline.status().dump();
  EXPECT_NE(program->err().find(kSaid), std::string::npos) << program->err();
  database.execute("alter system reset synchronous_standby_names");
  database.execute("select pg_reload_conf()");
  EXPECT_EQ(pipeline.difference_within(kPatience), "") << program->err();
}

// The index has versions from a future that the database no longer knows.
TEST(SourceFaults, ADatabaseThatWasPutBackToAnOlderStateIsEqualedAgain) {
  PostgresDatabase database;
  database.execute(kCounters);
  PipelineUnderTest pipeline(database);
  pipeline.add_index("counters", "public.docs", track("public.counters"));
  pipeline.apply();
  pipeline.catch_up();
  database.execute("update counters set n = 1");
  pipeline.catch_up();
  database.back_up();
  for (int i = 0; i < 3; ++i) {
    database.execute("update counters set n = n + 1; insert into counters values (" +
                     std::to_string(100 + i) +
                     ", 1); delete from counters where id = " + std::to_string(1 + i));
    pipeline.catch_up();
  }
  EXPECT_EQ(pipeline.difference(), "");
  database.restore();
  pipeline.catch_up();
  EXPECT_EQ(pipeline.difference(), "") << "after the backup was restored";
  database.execute("update counters set n = n + 10");
  pipeline.catch_up();
  EXPECT_EQ(pipeline.difference(), "");
}

// Transaction numbers, and so positions, mean something else in the new database, and no epoch tells that the
// dump is older than the index: it was made while the program led.
TEST(SourceFaults, ADumpThatIsRestoredElsewhereIsEqualedAgain) {
  PostgresDatabase database;
  database.execute(kCounters);
  PipelineUnderTest pipeline(database);
  pipeline.add_index("counters", "public.docs", track("public.counters"));
  pipeline.apply();
  const std::unique_ptr<Program> program = pipeline.start();
  database.execute("update counters set n = 1");
  ASSERT_EQ(pipeline.difference_within(kPatience), "");
  database.dump();
  database.execute(
      "update counters set n = n + 1; insert into counters values (100, 1); delete from counters where id = "
      "1");
  ASSERT_EQ(pipeline.difference_within(kPatience), "");
  program->kill();
  database.restore_dump();
  EXPECT_NE(pipeline.difference(), "");
  pipeline.catch_up();
  EXPECT_EQ(pipeline.difference(), "");
  database.execute("update counters set n = n + 10");
  pipeline.catch_up();
  EXPECT_EQ(pipeline.difference(), "");
  EXPECT_EQ(database.number("select count(*) from lockstep.job"), 0);
}

// What a writer's session has set must not reach the values that its triggers write.
TEST(SourceFaults, SettingsOfTheWritersSessionsDoNotMatter) {
  PostgresDatabase database;
  database.execute(
      "create table days (day date primary key, label text); "
      "create table hours (at timestamptz primary key, label text); "
      "create table amounts (amount double precision primary key, label text); "
      "create table blobs (blob bytea primary key, label text); "
      "insert into days values ('2024-02-01', 'a'), ('2024-01-02', 'b'); "
      "insert into hours values ('2024-02-01 12:00:00.123456+00', 'a'); "
      "insert into amounts values (0.1::float8 + 0.2::float8, 'a'); "
      "insert into blobs values ('\\x00ff5c', 'a'); "
      "create table docs (id integer primary key, day date, at timestamptz, amount double precision, blob "
      "bytea); "
      "insert into docs values (1, '2024-02-01', '2024-02-01 12:00:00.123456+00', 0.1::float8 + 0.2::float8, "
      "'\\x00ff5c'), "
      "(2, '2024-01-02', null, null, null); "
      "create view v as select d.id as _id, d.day as _day, d.at as _at, d.amount as _amount, d.blob as "
      "_blob, a.label as a, "
      "b.label as b, c.label as c, e.label as e from docs d left join days a on a.day = d.day left join "
      "hours b on b.at = d.at "
      "left join amounts c on c.amount = d.amount left join blobs e on e.blob = d.blob");
  PipelineUnderTest pipeline(database);
  pipeline.add_index("v", "public.v",
                     track("public.docs") + track("public.days", {{"column", "_day"}}) +
                         track("public.hours", {{"column", "_at"}}) +
                         track("public.amounts", {{"column", "_amount"}}) +
                         track("public.blobs", {{"column", "_blob"}}));
  pipeline.apply();
  pipeline.catch_up();
  const auto writer = database.connect();
  int n = 0;
  for (const char* settings :
       {"set datestyle = 'SQL, DMY'", "set datestyle = 'German'; set timezone = 'Asia/Kolkata'",
        "set extra_float_digits = -5; set bytea_output = 'escape'",
        "set intervalstyle = 'iso_8601'; set search_path = ''",
        "set standard_conforming_strings = off; set session_replication_role = origin; set enable_indexscan "
        "= off",
        "set default_transaction_isolation = 'serializable'; set row_security = off; set xmloption = "
        "document"}) {
    support::execute(*writer, std::string(settings) + "; reset statement_timeout");
    for (const char* table : {"days", "hours", "amounts", "blobs"}) {
      support::execute(*writer, "update public." + std::string(table) + " set label = 'changed " +
                                    std::to_string(++n) + "'");
    }
    pipeline.catch_up();
    EXPECT_EQ(pipeline.difference(), "") << settings;
  }
}

}  // namespace
}  // namespace lockstep::support
