// Partitions come and go under a running service: their documents follow, without an `apply`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  bool says(const std::string& text) {
    return wait_until([&] { return program_->err().find(text) != std::string::npos; }, kTold);
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
