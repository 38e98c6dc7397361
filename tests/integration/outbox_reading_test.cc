// What reading a batch costs the database: the rows of the batch, however many were consumed before.
#include <gtest/gtest.h>

#include "replicator/source/open_source.h"
#include "replicator/source/source.h"
#include "tests/integration/defined_database.h"
#include "tests/support/eventually.h"

namespace lockstep {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr int kBatches = 5;

TEST(OutboxReading, ConsumedRowsAreNotWalkedOver) {
  DefinedDatabase defined(
      "create table thing (id integer primary key, n integer); insert into thing values (1, 1); "
      "create view docs as select id as _id, n from thing");
  defined.add_index("public.docs", {track("public.thing")});
  defined.apply();
  support::PostgresDatabase& database = defined.database();
  database.execute(
      "insert into lockstep.outbox (txid, capture, keys, slot) "
      "select '3'::xid8, 1, '{1}', slot from generate_series(1, 20000), generate_series(0, 2) as slot; "
      "analyze lockstep.outbox");
  // Blocks of the outbox and its indices that were looked at.
  const auto looked_at = [&] {
    return database.number(
        "select (select sum(idx_blks_hit + idx_blks_read) from pg_statio_user_indexes where relname like "
        "'outbox%') + (select sum(heap_blks_hit + heap_blks_read) from pg_statio_user_tables where relname "
        "like 'outbox%')");
  };
  const auto entered = [&] {
    return database.number("select sum(idx_scan) from pg_stat_user_indexes where relname like 'outbox%'");
  };
  const std::int64_t entered_before = entered();
  const std::int64_t looked_at_before = looked_at();

  {
    const std::unique_ptr<Source> source = open_source(defined.config(), "test");
    source->load_pipeline();
    ASSERT_TRUE(source->try_lead());
    source->raise_epoch({}, {});
    Position position = source->load_position();
    for (int i = 0; i < kBatches; ++i) {
      database.execute("update thing set n = n + 1");
      const auto transaction = source->begin();
      const Changes changes = transaction->read_changes(position, 1'000);
      EXPECT_EQ(changes.rows, 1);
      position = changes.next;
    }
  }
  // The session reports what it has read when it ends.
  ASSERT_TRUE(support::wait_until([&] { return entered() >= entered_before + kBatches; }, kPatience));
  EXPECT_LT(looked_at() - looked_at_before, 200);
}

}  // namespace
}  // namespace lockstep
