// What a change of one row costs until its document can be sent: a round trip takes as long as a small query,
// and so does a plan.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "replicator/source/open_source.h"
#include "replicator/source/postgres/read/shared_rendering.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/source.h"
#include "tests/integration/defined_database.h"
#include "tests/support/tcp_proxy.h"

namespace lockstep {
namespace {

class SmallChangeCost : public testing::Test {
 protected:
  SmallChangeCost()
      : defined_(
            "create table kind (name text not null); insert into kind values ('a'); "
            "create table thing (id integer primary key, n integer); "
            "insert into thing select i, i from generate_series(1, 1000) i; "
            "create view docs as select id as _id, n, (select min(name) from kind) as kind from thing") {
    TrackConfig constant = track("public.kind");
    constant.ignore = true;
    defined_.add_index("public.docs", {track("public.thing"), constant});
    defined_.apply();
  }

  DefinedDatabase defined_;
};

// They were six: the transaction was ended before the document was sent.
TEST_F(SmallChangeCost, ADocumentIsThreeRoundTripsBehindItsChange) {
  support::TcpProxy proxy(defined_.database().server());
  defined_.config().source.url = defined_.database().url_by({"127.0.0.1", proxy.port()});
  const std::unique_ptr<Source> source = open_source(defined_.config(), "test");
  ASSERT_TRUE(source->lead().try_lead());
  const Epoch epoch = source->lead().raise_epoch({}, {});
  const AppliedIndex index = source->pipeline().indices.at(0);
  Position position = source->changes().checkpoint();
  constexpr int kStatementsArePrepared = 2;
  int counted = 0;
  for (int i = 1; i <= 20 || (counted == 0 && i <= 500); ++i) {
    defined_.database().execute("update thing set n = -n where id = " + std::to_string(1 + i % 20));
    const std::int64_t before = proxy.round_trips();
    const auto transaction = source->changes().begin(epoch);
    transaction->take_snapshot();
    const Changes changes = transaction->read_changes(position, {1000, 10'000});
    const auto ids = transaction->resolve(index, changes.captured, {1000});
    ASSERT_TRUE(ids);
    int documents = 0;
    transaction->render_for(DocumentVersion(epoch, i), index, *ids, 1 << 20,
                            [&](const RenderedDocument&) { ++documents; });
    EXPECT_EQ(documents, 1);
    const std::int64_t trips = proxy.round_trips() - before;
    const bool may_be_shown = transaction->may_be_shown();
    // Something else may have written WAL that is not flushed yet: then it asks, or a commit is needed.
    if (i > kStatementsArePrepared) {
      EXPECT_EQ(trips, 3);
      if (may_be_shown && proxy.round_trips() - before == trips) ++counted;
    }
    position = changes.next;
  }
  EXPECT_GT(counted, 0);
}

class SessionOfTheSource : public SmallChangeCost {
 protected:
  SessionOfTheSource() : session_(defined_.config().source, "test") {}

  PostgresSession session_;
};

// PostgreSQL made a plan for each, since a list of one id looks cheaper than one of unknown length.
TEST_F(SessionOfTheSource, RenderingOneDocumentAgainNeedsNoNewPlan) {
  PostgresTransaction transaction(session_, "rendering", Isolation::kRepeatableRead);
  for (int i = 1; i <= 20; ++i) {
    const pqxx::result rows = render_by_ids(
        transaction, Doing("rendering"),
        "select v._id from public.docs as v where v._id = any($2::integer[]) and $1::bigint > 0",
        {{std::to_string(i)}}, 1);
    EXPECT_EQ(rows.size(), 1U);
  }
  EXPECT_LE(transaction.execute("select custom_plans from pg_prepared_statements")[0][0].as<int>(), 5)
      << "PostgreSQL tries so many first";
}

// `wait` took three times as long: with enable_seqscan off, what has no index looks so expensive that workers
// were started, in 10 ms each time.
TEST_F(SessionOfTheSource, LookingForUnfinishedWorkStartsNoParallelWorkers) {
  PostgresTransaction transaction(session_, "asking for the plan", Isolation::kEachStatement);
  std::string plan;
  transaction.execute("prepare work(integer) as " + session_.sql(postgres_sql("unfinished_work")));
  for (const pqxx::row& line : transaction.execute("explain execute work(1)"))
    plan += std::string(line[0].c_str()) + "\n";
  EXPECT_NE(plan.find("Seq Scan"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("Gather"), std::string::npos) << plan;
}

// Two milliseconds, mostly: pg_sleep() rounds up what is left of its time.
TEST_F(SmallChangeCost, AChangeIsLookedForEveryMillisecondAndNotEveryOther) {
  using namespace std::chrono_literals;
  const std::unique_ptr<Source> source = open_source(defined_.config(), "test");
  ASSERT_TRUE(source->lead().try_lead());
  const Position position = source->changes().read()->position();
  constexpr int kLooks = 200;
  int in_time = 0;
  for (int i = 0; i < kLooks; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    source->changes().await_change(position, 1ms, 0ms);
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, 900us);
    if (took < 2ms) ++in_time;
  }
  EXPECT_GE(in_time, kLooks / 4) << "beside other work";
}

}  // namespace
}  // namespace lockstep
