// Promise 5: lockstep's memory does not grow with the index, the transaction or the fan-out, and with the
// size of documents only as far as there are some at a time.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/support/pipeline_under_test.h"
#include "tests/support/resource_use.h"

namespace lockstep::support {
namespace {

using namespace std::chrono_literals;

// Sanitizers keep what was freed, so under them these tests only see to it that nothing else fails.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostOfAny = 4096;
#else
constexpr double kMostOfAny = 32;  // MiB
#endif

constexpr auto kDeadline = 10min;

class PeakMemory : public testing::Test {
 protected:
  PeakMemory() : pipeline_(database_) {}

  // MiB, at the peak of a run that replays all there is to replay.
  double peak() { return measured_run(pipeline_, "run", {"--until-caught-up"}, kDeadline).peak_memory; }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
};

class Memory : public PeakMemory {
 protected:
  Memory() {
    database_.execute(R"sql(
      create schema blog;
      create table blog.users (id bigint primary key, name text);
      create table blog.posts (id bigint primary key, user_id bigint, title text, body text);
      create index on blog.posts (user_id);
      create view blog.documents as
        select p.id as _id, p.user_id as _user_id, p.title, p.body, u.name
        from blog.posts p join blog.users u on u.id = p.user_id;
      insert into blog.users values (1, 'one');
    )sql");
    pipeline_.add_index("posts", "blog.documents",
                        track("blog.posts") + track("blog.users", {{"column", "_user_id"}}));
  }

  void insert_posts(int count, const std::string& body) {
    database_.execute("insert into blog.posts select i, 1, 'title', " + body + " from generate_series(1, " +
                      std::to_string(count) + ") i");
    database_.execute("vacuum analyze");
  }

  std::int64_t count() { return pipeline_.index("posts").count(); }
};

TEST_F(Memory, StaysFlatInABackfillAFanOutAndATransactionOf300000Documents) {
  insert_posts(300'000, "repeat(md5(i::text), 8)");
  pipeline_.apply();
  EXPECT_LE(peak(), kMostOfAny) << "MiB, in a backfill";
  EXPECT_EQ(count(), 300'000);

  database_.execute("update blog.posts set title = title || '.'");
  EXPECT_LE(peak(), kMostOfAny) << "MiB, in a transaction that changes every document";

  database_.execute("update blog.users set name = 'other'");
  EXPECT_LE(peak(), kMostOfAny) << "MiB, in a change that fans out to every document";
  pipeline_.must("verify", {}, kDeadline);
}

TEST_F(Memory, HoldsOnlySomeOfManyLargeDocuments) {
  insert_posts(24, "repeat(md5(i::text), 163840)");  // 5 MiB each, 120 MiB in all
  pipeline_.apply();
  EXPECT_LE(peak(), kMostOfAny + 32) << "MiB, in a backfill";
  database_.execute("update blog.posts set title = title || '.'");
  EXPECT_LE(peak(), kMostOfAny + 32) << "MiB, in a transaction that changes every document";
  database_.execute(
      "set session_replication_role = replica; update blog.posts set title = title || '.'; "
      "reset session_replication_role; insert into lockstep.job (pipeline, index, kind, reason) "
      "select pipeline, id, 'comparison', 'of a test' from lockstep.index");
  EXPECT_LE(peak(), kMostOfAny + 40) << "MiB, in a comparison of documents that all differ";
  EXPECT_EQ(count(), 24);
  EXPECT_EQ(pipeline_.difference(), "");
}

// Documents that are found by long values, such as addresses of pages.
class MemoryOfLongValues : public PeakMemory {
 protected:
  MemoryOfLongValues() {
    database_.execute(
        "create table pages (id integer primary key, address text); "
        "create index on pages using hash (address); "
        "create table visits (id integer primary key, address text, number integer); "
        "create index on visits using hash (address); "
        "create view documents as select p.id as _id, p.address as _address, "
        "(select sum(v.number) from visits v where v.address = p.address) as visits from pages p");
    pipeline_.add_index(
        "pages", "public.documents",
        track("public.pages") + track("public.visits", {{"row", "address"}, {"column", "_address"}}));
  }

  void apply_with(int pages, int bytes) {
    database_.execute(
        "insert into pages select i, (select string_agg(md5(i || ' ' || j), '') from "
        "generate_series(1, " +
        std::to_string(bytes / 32) + ") j) from generate_series(1, " + std::to_string(pages) +
        ") i; insert into visits select id, address, 1 from pages; analyze");
    pipeline_.apply();
    pipeline_.catch_up();
  }
};

TEST_F(MemoryOfLongValues, StaysSmallInAStatementOverThousands) {
  apply_with(9'000, 2'048);
  database_.execute("update visits set number = number + 1");
  EXPECT_LE(peak(), kMostOfAny + 16) << "MiB";
  EXPECT_EQ(pipeline_.difference(), "");
}

TEST_F(MemoryOfLongValues, StaysSmallWhereEachIsAWholeText) {
  apply_with(100, 256 * 1024);
  for (int i = 1; i <= 100; ++i) {
    database_.execute("update visits set number = number + 1 where id = " + std::to_string(i));
  }
  EXPECT_LE(peak(), kMostOfAny + 16) << "MiB, in a transaction for each";
  database_.execute("update visits set number = number + 1");
  EXPECT_LE(peak(), kMostOfAny + 16) << "MiB, in one statement";
  EXPECT_EQ(pipeline_.difference(), "");
}

}  // namespace
}  // namespace lockstep::support
