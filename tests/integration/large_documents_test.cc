// Documents that are larger than a bulk request: what the database does for them.
#include <gtest/gtest.h>

#include <cstdint>

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

  /// How often documents were rendered while lockstep replayed all there is to replay.
  std::int64_t renderings() {
    database_.execute("select pg_stat_reset()");
    pipeline_.catch_up();
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
