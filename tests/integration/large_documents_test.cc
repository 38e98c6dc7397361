// Documents that are larger than a bulk request: what the database does for them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {
namespace {

constexpr int kDocuments = 40;

class LargeDocuments : public testing::Test {
 protected:
  // The view calls a function once for each rendering, and PostgreSQL counts the calls.
  LargeDocuments() : pipeline_(database_) {
    database_.execute(R"sql(
      create schema shop;
      create table shop.items (id bigint primary key, n int);
      create function shop.contents(n int) returns text language plpgsql stable as
        $$ begin return repeat('x', 100000 + n); end $$;
      create view shop.documents as select id as _id, n, shop.contents(n) as contents from shop.items;
      do $$ begin
        execute format('alter database %I set track_functions = %L', current_database(), 'all');
      end $$;
    )sql");
    database_.execute("insert into shop.items select i, i from generate_series(1, " +
                      std::to_string(kDocuments) + ") i");
    pipeline_.add_index("items", "shop.documents", track("shop.items"));
    pipeline_.set_more("bulk_bytes = '64KiB'\n");
    pipeline_.apply();
  }

  /// A session tells what it has counted when it ends, which is after its program has.
  void expect_no_session() {
    const auto is_gone = [&] {
      return database_.number(
                 "select count(*) from pg_stat_activity where datname = current_database() "
                 "and backend_type = 'client backend' and pid <> pg_backend_pid()") == 0;
    };
    EXPECT_TRUE(wait_until(is_gone, std::chrono::seconds(10)));
  }

  /// How often documents were rendered while lockstep replayed all there is to replay.
  std::int64_t renderings() {
    expect_no_session();
    database_.execute("select pg_stat_reset()");
    pipeline_.catch_up();
    expect_no_session();
    return database_.number(
        "select coalesce(max(calls), 0) from pg_stat_user_functions where funcname = 'contents'");
  }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
};

// A hundred of 5 MB were rendered 5,050 times: the limit cuts what is rendered already.
TEST_F(LargeDocuments, AreRenderedTwiceAtMost) {
  const std::int64_t filled = renderings();
  EXPECT_GE(filled, kDocuments);
  EXPECT_LE(filled, 2 * kDocuments) << "in a backfill";
  database_.execute("update shop.items set n = n + 1");
  const std::int64_t changed = renderings();
  EXPECT_GE(changed, kDocuments);
  EXPECT_LE(changed, 2 * kDocuments) << "in a transaction that changes every document";
  EXPECT_EQ(pipeline_.difference(), "");
}

}  // namespace
}  // namespace lockstep::support
