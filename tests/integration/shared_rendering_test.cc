// Many documents are rendered on several connections at once, all of them in one snapshot; what becomes of
// such a connection is nobody's trouble.
#include "replicator/source/postgres/read/shared_rendering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include "replicator/source/postgres/session/session.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/program.h"

namespace lockstep::support {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

constexpr int kThings = 200;

// A document takes a millisecond, without any core's work.
constexpr const char* kSchema =
    "create table things (id integer primary key, n integer not null, seconds float not null default 0.001); "
    "insert into things select i, 1 from generate_series(1, 200) i; "
    "create view docs as select id as _id, 100 / n as share, pg_sleep(seconds)::text as slept from things";

constexpr const char* kStatement =
    "select v._id::text, v.share::text, v.slept, pg_backend_pid() from public.docs as v "
    "where v._id = any($2::integer[]) and $1::bigint > 0";

struct Rows {
  std::map<std::string, std::string> share;  // by _id
  std::set<std::string> backends;
};

class SharedRenderingTest : public testing::Test {
 protected:
  SharedRenderingTest() { database_.execute(kSchema); }

  SourceConfig source(int connections) const {
    SourceConfig source;
    source.url = database_.url();
    source.password = Secret(database_.password());
    source.render_connections = connections;
    return source;
  }

  static DocumentIds ids(int count) {
    DocumentIds ids;
    for (int i = 1; i <= count; ++i) ids.push_back({std::to_string(i)});
    return ids;
  }

  static Rows render(SharedRendering& sharing, PostgresTransaction& transaction, int count = kThings) {
    Rows all;
    for (const pqxx::result& rows :
         sharing.render(transaction, Doing("rendering"), IndexId{1}, kStatement, ids(count), 1 << 20)) {
      for (const pqxx::row& row : rows) {
        EXPECT_TRUE(all.share.emplace(row[0].c_str(), row[1].c_str()).second) << row[0];
        all.backends.insert(row[3].c_str());
      }
    }
    return all;
  }

  /// Renders until so many connections take part.
  static testing::AssertionResult is_shared_by(std::size_t connections, SharedRendering& sharing,
                                               PostgresTransaction& transaction) {
    std::size_t last = 0;
    if (wait_until([&] { return (last = render(sharing, transaction).backends.size()) == connections; }, 30s))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << last << " connections";
  }

  static PostgresTransaction begin(PostgresSession& session) {
    return {session, "rendering", Isolation::kRepeatableRead};
  }

  std::int64_t helpers() {
    return database_.number(
        "select count(*) from pg_stat_activity where datname = current_database() and "
        "application_name like '%rendering'");
  }
  std::int64_t end_helpers() {
    return database_.number(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() "
        "and application_name like '%rendering'");
  }

  PostgresDatabase database_;
};

TEST_F(SharedRenderingTest, SeveralConnectionsRenderInTheSnapshotOfOne) {
  PostgresSession session(source(3), "test");
  SharedRendering sharing(source(3), "test, rendering");
  PostgresTransaction transaction = begin(session);
  transaction.run("select 1");  // takes the snapshot
  database_.execute(
      "update things set n = 2; delete from things where id = 7; insert into things values (201, 1)");
  ASSERT_TRUE(is_shared_by(3, sharing, transaction));
  const Rows rows = render(sharing, transaction, kThings + 1);
  EXPECT_THAT(rows.share, SizeIs(kThings));
  for (const auto& [id, share] : rows.share) EXPECT_EQ(share, "100") << id;
}

TEST_F(SharedRenderingTest, DocumentsThatTakeMillisecondsAreRenderedFasterByFour) {
  database_.execute("update things set seconds = 0.005");
  PostgresSession session(source(4), "test");
  SharedRendering one(source(1), "test, rendering");
  SharedRendering four(source(4), "test, rendering");
  PostgresTransaction transaction = begin(session);
  ASSERT_TRUE(is_shared_by(4, four, transaction));
  const auto seconds = [&](SharedRendering& sharing) {
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_THAT(render(sharing, transaction).share, SizeIs(kThings));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  const double by_one = seconds(one);
  const double by_four = seconds(four);
  std::cout << by_one / by_four << " times as fast\n";
  EXPECT_GT(by_one / by_four, 2);
}

TEST_F(SharedRenderingTest, AnIdThatIsAskedForTwiceIsRenderedOnce) {
  PostgresSession session(source(2), "test");
  SharedRendering sharing(source(2), "test, rendering");
  PostgresTransaction transaction = begin(session);
  ASSERT_TRUE(is_shared_by(2, sharing, transaction));
  DocumentIds twice = ids(100);
  for (const DocumentId& id : ids(100)) twice.push_back(id);
  std::set<std::string> backends;
  std::size_t rows = 0;
  for (const pqxx::result& part :
       sharing.render(transaction, Doing("rendering"), IndexId{1}, kStatement, twice, 1 << 20)) {
    rows += static_cast<std::size_t>(part.size());
    for (const pqxx::row& row : part) backends.insert(row[3].c_str());
  }
  EXPECT_EQ(rows, 100U);
  EXPECT_THAT(backends, SizeIs(2));
}

TEST_F(SharedRenderingTest, FewDocumentsTakeNoFurtherConnection) {
  PostgresSession session(source(8), "test");
  SharedRendering sharing(source(8), "test, rendering");
  PostgresTransaction transaction = begin(session);
  for (int i = 0; i < 50; ++i) EXPECT_THAT(render(sharing, transaction, 1).backends, SizeIs(1));
  EXPECT_EQ(helpers(), 0);
}

TEST_F(SharedRenderingTest, OneConnectionIsOneConnection) {
  PostgresSession session(source(1), "test");
  SharedRendering sharing(source(1), "test, rendering");
  PostgresTransaction transaction = begin(session);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(render(sharing, transaction).backends, SizeIs(1));
  EXPECT_EQ(helpers(), 0);
}

// The "alter table" waits for our transaction, and further connections of ours would wait behind it.
TEST_F(SharedRenderingTest, AnAlterTableThatWaitsForTheTransactionDoesNotHangIt) {
  PostgresSession session(source(2), "test");
  SharedRendering sharing(source(2), "test, rendering");
  {
    PostgresTransaction transaction = begin(session);
    ASSERT_TRUE(is_shared_by(2, sharing, transaction));
  }
  std::future<void> alter;
  {
    PostgresTransaction transaction = begin(session);
    render(sharing, transaction, 1);
    alter = std::async(std::launch::async, [&database = database_] {
      support::execute(*database.connect(), "alter table things add column color text");
    });
    ASSERT_TRUE(wait_until(
        [&] {
          return database_.number(
                     "select count(*) from pg_locks where not granted and relation = "
                     "'things'::regclass") == 1;
        },
        10s));
    const auto begun = std::chrono::steady_clock::now();
    const Rows rows = render(sharing, transaction);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    EXPECT_THAT(rows.share, SizeIs(kThings));
    EXPECT_THAT(rows.backends, SizeIs(1));
  }
  ASSERT_EQ(alter.wait_for(10s), std::future_status::ready);
  alter.get();
}

TEST_F(SharedRenderingTest, AConnectionThatIsEndedIsReplaced) {
  PostgresSession session(source(2), "test");
  SharedRendering sharing(source(2), "test, rendering");
  PostgresTransaction transaction = begin(session);
  ASSERT_TRUE(is_shared_by(2, sharing, transaction));
  ASSERT_EQ(end_helpers(), 1);
  ASSERT_TRUE(wait_until([&] { return helpers() == 0; }, 10s));
  const Rows rows = render(sharing, transaction);
  EXPECT_THAT(rows.share, SizeIs(kThings));
  EXPECT_THAT(rows.backends, SizeIs(1));
  EXPECT_TRUE(is_shared_by(2, sharing, transaction));
}

TEST_F(SharedRenderingTest, AConnectionThatEndsInTheMiddleLosesNoDocument) {
  PostgresSession session(source(2), "test");
  SharedRendering sharing(source(2), "test, rendering");
  PostgresTransaction transaction = begin(session);
  ASSERT_TRUE(is_shared_by(2, sharing, transaction));
  std::future<Rows> rows = std::async(std::launch::async, [&] { return render(sharing, transaction); });
  ASSERT_TRUE(wait_until(
      [&] {
        return database_.number(
                   "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = "
                   "current_database() and application_name like '%rendering' and state = 'active' and query "
                   "like '%public.docs%'") == 1;
      },
      10s, 1ms));
  EXPECT_THAT(rows.get().share, SizeIs(kThings));
}

TEST_F(SharedRenderingTest, WithoutRoomForAFurtherConnectionOneRendersEverything) {
  const std::string role = database_.create_role("alone");
  database_.execute("grant select on docs to " + role + "; alter role " + role + " connection limit 1");
  SourceConfig alone = source(4);
  alone.url = database_.url_as(role);
  PostgresSession session(alone, "test");
  SharedRendering sharing(alone, "test, rendering");
  PostgresTransaction transaction = begin(session);
  for (int i = 0; i < 5; ++i) {
    const Rows rows = render(sharing, transaction);
    EXPECT_THAT(rows.share, SizeIs(kThings));
    EXPECT_THAT(rows.backends, SizeIs(1));
  }
}

TEST_F(SharedRenderingTest, ARowThatMakesAnotherPartFailIsSaidAsIfItWereAlone) {
  PostgresSession session(source(2), "test");
  SharedRendering sharing(source(2), "test, rendering");
  {
    PostgresTransaction transaction = begin(session);
    ASSERT_TRUE(is_shared_by(2, sharing, transaction));
  }
  database_.execute("update things set n = 0 where id = 99");  // in the order of texts the last one
  PostgresTransaction transaction = begin(session);
  try {
    render(sharing, transaction);
    FAIL() << "rendered";
  } catch (const PostgresError& error) {
    EXPECT_THAT(error.what(), HasSubstr("division by zero"));
    EXPECT_FALSE(error.retryable());
  }
}

TEST_F(SharedRenderingTest, ACancellationEndsAllParts) {
  PostgresSession session(source(2), "test");
  SharedRendering sharing(source(2), "test, rendering");
  {
    PostgresTransaction transaction = begin(session);
    ASSERT_TRUE(is_shared_by(2, sharing, transaction));
  }
  database_.execute("update things set seconds = 60 where id = 99");
  {
    PostgresTransaction transaction = begin(session);
    std::future<Rows> rows = std::async(std::launch::async, [&] { return render(sharing, transaction); });
    ASSERT_TRUE(wait_until(
        [&] {
          return database_.number(
                     "select count(*) from pg_stat_activity where datname = current_database() and state = "
                     "'active' and wait_event = 'PgSleep' and clock_timestamp() - query_start > '2s'") == 1;
        },
        30s));
    sharing.cancel_statements();
    ASSERT_EQ(rows.wait_for(10s), std::future_status::ready);
    EXPECT_THROW(rows.get(), PostgresError);
  }
  database_.execute("update things set seconds = 0.001");
  PostgresTransaction transaction = begin(session);
  EXPECT_TRUE(is_shared_by(2, sharing, transaction));
}

// The own connection fails, and does not wait for what the others still render.
TEST_F(SharedRenderingTest, WhatFailsWaitsForNoOtherPart) {
  PostgresSession session(source(2), "test");
  SharedRendering sharing(source(2), "test, rendering");
  {
    PostgresTransaction transaction = begin(session);
    ASSERT_TRUE(is_shared_by(2, sharing, transaction));
  }
  database_.execute("update things set seconds = 60 where id = 99; update things set n = 0 where id = 1");
  PostgresTransaction transaction = begin(session);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_THROW(render(sharing, transaction), PostgresError);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 20s);
}

TEST_F(SharedRenderingTest, AServiceRendersOnAsManyConnectionsAsItIsTold) {
  PipelineUnderTest pipeline(database_);
  pipeline.set_more_of_source("render_connections = 4\n");
  pipeline.add_index("things", "public.docs", track("public.things"));
  pipeline.apply();
  pipeline.catch_up();
  const std::unique_ptr<Program> program = pipeline.start();
  for (int i = 2; i <= 4; ++i) {
    // Not a large change: the tail renders it.
    database_.execute("update things set n = " + std::to_string(i));
    pipeline.must("wait");
    EXPECT_EQ(pipeline.difference(), "");
    if (i == 3) EXPECT_TRUE(wait_until([&] { return end_helpers() > 0; }, 10s));
  }
  EXPECT_LE(helpers(), 3);
  EXPECT_TRUE(program->running()) << program->err();
}

}  // namespace
}  // namespace lockstep::support
