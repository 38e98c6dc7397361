// What reading a batch costs the database: the rows of the batch, however many were consumed before.
#include <gtest/gtest.h>

#include <functional>

#include "replicator/source/open_source.h"
#include "replicator/source/source.h"
#include "tests/integration/defined_database.h"
#include "tests/support/eventually.h"

namespace lockstep {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr int kBatches = 5;

class OutboxReading : public testing::Test {
 protected:
  OutboxReading()
      : defined_(
            "create table thing (id integer primary key, n integer); insert into thing values (1, 1); "
            "create view docs as select id as _id, n from thing") {
    defined_.add_index("public.docs", {track("public.thing")});
    defined_.apply();
  }

  support::PostgresDatabase& database() { return defined_.database(); }

  /// Rows of one transaction in each leaf. What this looks at has been counted when it returns.
  void insert(const std::string& txid, int rows) {
    support::execute(*database().connect(),
                     "insert into lockstep.outbox (txid, capture, keys, slot) select " + txid +
                         ", 1, '{1}', slot from generate_series(1, " + std::to_string(rows) +
                         "), generate_series(0, 2) as slot");
    EXPECT_TRUE(support::wait_until(
        [&] {
          return database().number(
                     "select sum(n_tup_ins) from pg_stat_user_tables where relname like 'outbox%'") >=
                 3 * rows;
        },
        kPatience));
  }

  const Config& config() { return defined_.config(); }

  /// Blocks of the outbox and its indices that are looked at while batches are read, before each of which
  /// `write` is called.
  std::int64_t blocks_of(int batches, std::int64_t max_values, const std::function<void()>& write) {
    const std::int64_t entered_before = entered();
    const std::int64_t before = looked_at();
    {
      const std::unique_ptr<Source> source = open_source(defined_.config(), "test");
      EXPECT_TRUE(source->lead().try_lead());
      const Epoch epoch = source->lead().raise_epoch({}, {});
      Position position = source->changes().checkpoint();
      for (int i = 0; i < batches; ++i) {
        write();
        const auto transaction = source->changes().begin(epoch);
        const Changes changes = transaction->read_changes(position, {max_values});
        EXPECT_GT(changes.rows, 0);
        position = changes.next;
      }
    }
    // The session reports what it has looked at when it ends.
    EXPECT_TRUE(support::wait_until([&] { return entered() >= entered_before + batches; }, kPatience));
    return looked_at() - before;
  }

 private:
  std::int64_t looked_at() {
    return database().number(
        "select (select sum(idx_blks_hit + idx_blks_read) from pg_statio_user_indexes where relname like "
        "'outbox%') + (select sum(heap_blks_hit + heap_blks_read) from pg_statio_user_tables where relname "
        "like 'outbox%')");
  }
  std::int64_t entered() {
    return database().number("select sum(idx_scan) from pg_stat_user_indexes where relname like 'outbox%'");
  }

  DefinedDatabase defined_;
};

TEST_F(OutboxReading, ConsumedRowsAreNotWalkedOver) {
  insert("'3'::xid8", 20'000);
  support::execute(*database().connect(), "analyze lockstep.outbox");
  // A session reports what it has looked at when it ends at the latest.
  ASSERT_TRUE(support::wait_until(
      [&] {
        return database().number(
                   "select count(*) from pg_stat_activity where datname = current_database()") == 1;
      },
      kPatience));
  EXPECT_LT(blocks_of(kBatches, 1'000, [&] { database().execute("update thing set n = n + 1"); }), 200);
}

TEST_F(OutboxReading, ABacklogIsReadInTheOrderOfItsIndexAlsoWithoutStatistics) {
  insert("pg_current_xact_id()", 20'000);
  EXPECT_LT(blocks_of(kBatches, 100, [] {}), 500);
}

TEST_F(OutboxReading, AChangeFromBeforeTheServersClockWasPutBackIsNoYoungerThanNew) {
  const std::unique_ptr<Source> source = open_source(config(), "test");
  ASSERT_TRUE(source->lead().try_lead());
  const Epoch epoch = source->lead().raise_epoch({}, {});
  const Position position = source->changes().checkpoint();
  database().execute("update thing set n = 2; update lockstep.outbox set at = at + interval '1 hour'");
  const Changes changes = source->changes().begin(epoch)->read_changes(position, {1'000});
  ASSERT_GT(changes.rows, 0);
  EXPECT_EQ(changes.oldest_age.count(), 0);
}

}  // namespace
}  // namespace lockstep
