// Partitions come and go under a running service: their documents follow, without an `apply`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr seconds kTold{15};  // promise 7 of DESIGN.md

class Partitions : public testing::Test {
 protected:
  Partitions() : pipeline_(database_) {
    database_.execute(
        "create table days (id integer, day integer, name text, primary key (id, day)) partition by list "
        "(day); "
        "create table day_1 partition of days for values in (1); "
        "create table day_2 partition of days for values in (2); "
        "insert into days select i, 1 + i % 2, 'name ' || i from generate_series(1, 50) as i; "
        "create view entries as select day || '-' || id as _id, name from days");
    pipeline_.add_index("entries", "public.entries", track("public.days", {{"row", "day || '-' || id"}}));
  }

  void SetUp() override {
    pipeline_.apply();
    start();
  }
  void TearDown() override {
    if (HasFailure()) std::cout << program_->err();
  }

  void start() {
    program_ = pipeline_.start();
    ASSERT_EQ(pipeline_.difference_within(kPatience), "");
  }
  void stop() {
    program_->signal(SIGTERM);
    ASSERT_EQ(program_->wait(kPatience), 0);
  }
  bool says(const std::string& text) {
    return wait_until([&] { return program_->err().find(text) != std::string::npos; }, kTold);
  }
  bool warns(const std::string& text) {
    return wait_until(
        [&] { return pipeline_.status().at("warnings").dump().find(text) != std::string::npos; }, kTold);
  }
  /// That what was committed before is there when `wait` has ended.
  void expect_no_difference_after_wait(const std::vector<std::string>& arguments = {}) {
    pipeline_.must("wait", arguments);
    EXPECT_EQ(pipeline_.difference(), "");
  }
  std::string xid_of(const std::string& sql) {
    return database_.value(sql + "; select pg_current_xact_id()").value();
  }
  /// `sql` takes a table out of the view and `back` puts it back. Meanwhile its rows change, and their
  /// documents go, while a session that writes to it keeps the service from looking at its rows.
  void expect_documents_after(const std::string& table, const ElasticsearchIndex& index,
                              const std::string& document, const std::string& sql, const std::string& back) {
    database_.execute(sql);
    const auto writer = database_.connect();
    execute(*writer, "begin; update " + table + " set name = 'open' where id = 2");
    database_.execute("update " + table + " set name = 'meanwhile' where id > 10 and id % 4 = 0");
    ASSERT_TRUE(wait_until([&] { return !index.get(document); }, kPatience));
    execute(*writer, "commit; " + back);
    expect_no_difference_after_wait();
  }
  std::int64_t triggers_of(const std::string& table) {
    return database_.number("select count(*) from pg_trigger where tgenabled = 'A' and tgrelid = '" + table +
                            "'::regclass");
  }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
  std::unique_ptr<Program> program_;
};

TEST_F(Partitions, DocumentsOfADroppedPartitionGoByThemselvesAndTheLogSaysSo) {
  database_.execute("drop table day_1");
  EXPECT_TRUE(says("public.day_1, a part of public.days, was dropped"));
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");
}

TEST_F(Partitions, DocumentsOfADetachedPartitionGoByThemselvesAndItLosesItsTriggers) {
  database_.execute("alter table days detach partition day_1");
  EXPECT_TRUE(says("public.day_1 is no part of public.days any more; the documents of its rows (25)"));
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");
  EXPECT_EQ(triggers_of("day_1"), 0);
  EXPECT_THAT(program_->err(), Not(HasSubstr("comparison")));
}

TEST_F(Partitions, NewPartitionGetsItsTriggersByItselfAndNothingIsCompared) {
  database_.execute("create table day_3 partition of days for values in (3)");
  EXPECT_TRUE(says("public.day_3 is a new part of public.days; it is empty"));
  EXPECT_EQ(triggers_of("day_3"), 4);
  EXPECT_EQ(database_.number("select count(*) from lockstep.job"), 0);
  database_.execute(
      "insert into day_3 values (1, 3, 'direct'); insert into days values (2, 3, 'through the parent')");
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");
}

// Nothing was said, and `apply` had nothing to do: the part was below the tracked table before and after.
TEST_F(Partitions, DocumentsOfAPartThatMovesBelowTheTrackedTableFollow) {
  database_.execute(
      "create table orders (id integer primary key, name text); create table present () inherits (orders); "
      "create table past () inherits (orders); create table last_year () inherits (present); "
      "insert into last_year select i, 'name ' || i from generate_series(1, 20) as i; "
      "create view present_orders as select id as _id, name from present");
  program_.reset();
  pipeline_.add_index("orders", "public.present_orders", track("public.present", {{"row", "id"}}));
  pipeline_.apply();
  start();
  database_.execute(
      "begin; alter table last_year no inherit present; alter table last_year inherit past; commit");
  EXPECT_TRUE(says("public.last_year, a part of public.orders, is below other tables now"));
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");
  program_.reset();
  database_.execute(
      "begin; alter table last_year no inherit past; alter table last_year inherit present; commit");
  pipeline_.apply();
  start();
}

// The leader looks every two seconds, on the connection that changes come by. It took as long for a thousand.
TEST_F(Partitions, ALookAtAThousandPartitionsIsShort) {
  database_.execute(
      "create table many (day integer) partition by list (day); do $$ begin for i in 1 .. 1000 loop execute "
      "format('create table many_%s partition of many for values in (%s)', i, i); end loop; end $$");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(
      database_.number("select count(lockstep.tables_above(inhrelid)) from pg_inherits where inhparent = "
                       "'many'::regclass"),
      1000);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
}

TEST_F(Partitions, RowsOfAnAttachedTableAppearByThemselves) {
  database_.execute(
      "create table later (like days including all); insert into later values (1, 7, 'one'), (2, 7, 'two'); "
      "alter table days attach partition later for values in (7)");
  EXPECT_TRUE(says("public.later is a new part of public.days; the documents of its rows (2)"));
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");
}

TEST_F(Partitions, PartitionsThatCameAndWentWhileNoServiceRanAreSeenToBeforeItHasCaughtUp) {
  program_->kill();
  database_.execute(
      "drop table day_1; create table day_3 partition of days for values in (3); "
      "insert into day_3 values (1, 3, 'direct')");
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.difference(), "");
  EXPECT_THAT(pipeline_.must("check"), HasSubstr("pipeline test: no errors\n"));
}

// `wait` ended with 0, and the row was missing for two seconds.
TEST_F(Partitions, WaitIncludesRowsInsertedStraightIntoANewPartition) {
  database_.execute(
      "create table day_3 partition of days for values in (3); insert into day_3 values (1, 3, 'a')");
  expect_no_difference_after_wait();
  const std::string xid = xid_of(
      "create table day_4 partition of days for values in (4); insert into day_4 values (1, 4, 'straight')");
  expect_no_difference_after_wait({"--xid", xid});
  // The service may have followed the partition before `wait` looks.
  const std::string seen = xid_of(
      "create table day_5 partition of days for values in (5); insert into day_5 values (1, 5, 'straight')");
  ASSERT_TRUE(says("public.day_5 is a new part"));
  expect_no_difference_after_wait({"--xid", seen});
}

TEST_F(Partitions, WaitIncludesWhatADetachedAttachedOrDroppedPartitionChanges) {
  database_.execute("alter table days detach partition day_1");
  expect_no_difference_after_wait();
  expect_no_difference_after_wait(
      {"--xid", xid_of("alter table days attach partition day_1 for values in (1)")});
  database_.execute("alter table days detach partition day_2" +
                    std::string(database_.number("show server_version_num") < 140000 ? "" : " concurrently"));
  expect_no_difference_after_wait();
  expect_no_difference_after_wait({"--xid", xid_of("drop table day_1")});
}

TEST_F(Partitions, WithoutAServiceWaitNamesThePartThatIsNotFollowed) {
  program_->kill();
  database_.execute("create table day_3 partition of days for values in (3)");
  const Completed late = pipeline_.lockstep("wait", {"--timeout", "100ms"});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err, HasSubstr("public.day_3 is a new part of public.days; `lockstep run` has not"));
}

// Its oid and the tables above it were as before, so nothing was noted: 11 documents of 99 were missing for
// good.
TEST_F(Partitions, APartDetachedChangedAndAttachedAgainKeepsItsDocuments) {
  expect_documents_after("day_1", pipeline_.index("entries"), "1-12",
                         "alter table days detach partition day_1",
                         "alter table days attach partition day_1 for values in (1)");
}

TEST_F(Partitions, ATableThatInheritsAgainKeepsItsDocuments) {
  database_.execute(
      "create table orders (id integer primary key, name text); create table old_orders () inherits "
      "(orders); "
      "insert into old_orders select i, 'name ' || i from generate_series(1, 40) as i; "
      "create view all_orders as select id as _id, name from orders");
  program_.reset();
  pipeline_.add_index("orders", "public.all_orders", track("public.orders", {{"row", "id"}}));
  pipeline_.apply();
  start();
  expect_documents_after("old_orders", pipeline_.index("orders"), "12",
                         "alter table old_orders no inherit orders", "alter table old_orders inherit orders");
}

// The documents were there for as long as a transaction that had read the table was open.
TEST_F(Partitions, AReaderOfADetachedPartKeepsNothingWaiting) {
  database_.execute("alter table days detach partition day_1");
  const auto reader = database_.connect();
  execute(*reader, "begin; select count(*) from day_1");
  expect_no_difference_after_wait();
  EXPECT_EQ(triggers_of("day_1"), 4) << "the test would prove nothing";
  EXPECT_THAT(pipeline_.must("check"), HasSubstr("pipeline test: no errors\n"));
  execute(*reader, "commit");
  // What stays is in nobody's way when it becomes a part again.
  database_.execute("alter table days attach partition day_1 for values in (1)");
  EXPECT_TRUE(says("public.day_1 is a new part of public.days; the documents of its rows (25)"));
  expect_no_difference_after_wait();
}

TEST_F(Partitions, ApplyDropsTriggersThatAReaderOfADetachedPartHasKept) {
  const auto reader = database_.connect();
  database_.execute("alter table days detach partition day_1");
  execute(*reader, "begin; select count(*) from day_1");
  expect_no_difference_after_wait();
  execute(*reader, "commit");
  pipeline_.apply();
  EXPECT_EQ(triggers_of("day_1"), 0);
}

TEST_F(Partitions, APartThatAWriterHoldsIsNamedAndKeepsNoOtherPartWaiting) {
  program_->kill();
  database_.execute(
      "create table day_3 partition of days for values in (3); create table day_4 partition of days for "
      "values "
      "in (4); create table day_5 partition of days for values in (5)");
  const auto writer = database_.connect();
  execute(*writer, "begin; insert into day_4 values (1, 4, 'open')");
  database_.execute(
      "insert into day_3 values (1, 3, 'straight'); insert into day_5 values (1, 5, 'straight')");
  start();
  const std::string waits =
      "public.day_4 is a new part of public.days, and changes of its rows are not followed: it waits for a "
      "lock "
      "on public.day_4 that session " +
      std::string(execute(*writer, "select pg_backend_pid()")[0][0].c_str());
  EXPECT_TRUE(warns(waits));
  EXPECT_TRUE(says(waits));
  execute(*writer, "commit");
  expect_no_difference_after_wait();
  EXPECT_TRUE(wait_until([&] { return pipeline_.status().at("warnings").empty(); }, kTold + seconds(5)));
}

// `part` has the oids of the tables that were dumped: `apply` ended with an error, and new partitions were
// not followed. What has such an oid now is another table.
TEST_F(Partitions, ARestoredDumpIsFollowedAndSoAreItsNewPartitions) {
  stop();
  database_.execute(
      "create view nested as select * from days; create or replace view entries as "
      "select day || '-' || id as _id, name from nested");
  pipeline_.apply();
  database_.dump();
  database_.execute("update days set name = 'lost' where id = 3; insert into days values (100, 1, 'lost')");
  pipeline_.catch_up();
  database_.restore_dump();
  database_.execute(
      "create table day_3 partition of days for values in (3); insert into day_3 values (1, 3, 'a')");
  start();
  database_.execute(
      "create table day_4 partition of days for values in (4); insert into day_4 values (1, 4, 'b')");
  expect_no_difference_after_wait(
      {"--timeout", "100s"});  // a sweep waits for the leaders of the other database
  EXPECT_EQ(triggers_of("day_4"), 4);
  EXPECT_TRUE(wait_until([&] { return pipeline_.status().at("warnings").empty(); }, kTold))
      << pipeline_.status().at("warnings");
  pipeline_.apply();
  EXPECT_THAT(pipeline_.must("check"), HasSubstr("pipeline test: no errors\n"));
}

TEST_F(Partitions, ApplyAfterARestoredDumpSucceeds) {
  stop();
  database_.dump();
  database_.restore_dump();
  database_.execute(
      "create table stranger (id integer); create table day_3 partition of days for values in (3); "
      "insert into day_3 values (1, 3, 'a'); "
      "update lockstep.part set table_oid = 'stranger'::regclass where name = 'public.day_1'");
  pipeline_.apply();
  EXPECT_EQ(triggers_of("stranger"), 0);
  EXPECT_EQ(triggers_of("day_3"), 4);
  start();
  database_.execute("insert into day_3 values (2, 3, 'b')");
  expect_no_difference_after_wait({"--timeout", "100s"});
}

// The role of `run` makes no trigger by rights of its own.
TEST_F(Partitions, RoleOfRunFollowsPartitionsAndAPartOfSomebodyElseIsLeftAloneAndNamed) {
  program_->kill();
  const std::string role = database_.create_role("runner");
  const std::string owner = database_.create_role("owner");
  const std::string plan = pipeline_.must("plan", {"--role", role});
  database_.execute(plan.substr(plan.find("\n", plan.rfind("\n-- ") + 1)));
  pipeline_.set_role(role);
  start();
  database_.execute(
      "create table day_3 partition of days for values in (3); insert into day_3 values (1, 3, 'x')");
  EXPECT_TRUE(says("public.day_3 is a new part of public.days"));
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");

  database_.execute("create table day_4 partition of days for values in (4); alter table day_4 owner to " +
                    owner);
  EXPECT_TRUE(wait_until(
      [&] {
        return pipeline_.status().at("warnings").dump().find("changes of public.day_4 are not followed") !=
               std::string::npos;
      },
      kTold + seconds(5)));
  EXPECT_EQ(triggers_of("day_4"), 0);
}

}  // namespace
}  // namespace lockstep::support
