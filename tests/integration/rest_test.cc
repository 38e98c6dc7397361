// What a pipeline asks of PostgreSQL while nothing changes. Counted: what that costs depends on the machine.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/postgres_database.h"
#include "tests/support/private_postgres.h"

namespace lockstep::support {
namespace {

using namespace std::chrono_literals;

// A server of its own: on a shared one nothing rests, since others commit.
class Rest : public testing::Test {
 protected:
  Rest()
      : server_({"shared_preload_libraries=pg_stat_statements"}),
        database_(server_.url()),
        pipeline_(database_) {
    database_.execute(
        "create extension pg_stat_statements; create table item (id integer primary key, name text);"
        "insert into item values (1, 'one'); create view items as select id as _id, name from item");
    pipeline_.add_index("items", "public.items", track("public.item"));
    pipeline_.apply();
  }

  std::int64_t statements() { return database_.number("select sum(calls) from pg_stat_statements"); }
  std::int64_t transactions() {
    return database_.number("select pg_snapshot_xmax(pg_current_snapshot())::text");
  }

  PrivatePostgres server_;
  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
};

TEST_F(Rest, PostgresIsAskedLittleAndWritesNextToNothing) {
  const auto service = pipeline_.start();
  ASSERT_TRUE(wait_until([&] { return pipeline_.index("items").count() == 1; }, kPatience));
  std::this_thread::sleep_for(2s);  // it is no rest before
  const std::int64_t statements_before = statements();
  const std::int64_t transactions_before = transactions();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(3s);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  const double statements_a_second = static_cast<double>(statements() - statements_before) / time.count();
  RecordProperty("statements_a_second", std::to_string(statements_a_second));
  EXPECT_LE(statements_a_second, 14);
  EXPECT_LE(transactions() - transactions_before, 5) << "that write: no look is one";
}

}  // namespace
}  // namespace lockstep::support
