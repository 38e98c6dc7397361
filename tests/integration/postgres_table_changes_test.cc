// Tables, types and functions change under the triggers: no writer fails, no change is missed (T5 of
// replicator/source/postgres/define/triggers.h), and the next apply sees what its documents were made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "replicator/error.h"
#include "replicator/source/open_source.h"
#include "replicator/source/postgres/define/preflight.h"
#include "replicator/source/source.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kOrders = R"sql(
create schema s;
create type s.mood as enum ('sad', 'happy');
create type s.address as (street text, town text);
create domain s.label as text;
create table s.customers (id integer primary key, name text);
create table s.orders (id integer primary key, customer_id integer, title varchar(20), note text, mood s.mood default 'sad',
                       address s.address default ('here', 'there'), label s.label default 'none');
create function s.customer_of(o integer) returns integer language sql immutable as 'select o % 10';
create function s.shout(t text) returns text language sql immutable begin atomic select upper(t); end;
create view s.names as select id, name from s.customers;
create view s.v as select o.id as _id, o.customer_id as _customer, o.title, o.mood, o.address, o.label, s.shout(o.title) as shout,
  (select n.name from s.names as n where n.id = o.customer_id) as name from s.orders as o;
create view s.whole as select o.id as _id, to_jsonb(o) as row from s.orders as o;
create view s.by_customer as select c.id as _id, (select jsonb_agg(o.title) from s.orders as o where o.customer_id = c.id) as titles
  from s.customers as c;
insert into s.customers select i, 'customer ' || i from generate_series(0, 9) as i;
insert into s.orders (id, customer_id, title, note) select i, i % 10, 'order ' || i, 'note' from generate_series(1, 50) as i;
)sql";

const std::string kDays = "s.days (day || '-' || id): ";

class TableChangesTest : public ::testing::Test {
 protected:
  TableChangesTest() : defined_(kOrders), writer_(defined_.database().connect()) {}

  void follow_orders(const std::string& view = "s.v") {
    defined_.add_index(view, view == "s.v"
                                 ? std::vector{track("s.orders"), track_by_column("s.customers", "_customer")}
                                 : std::vector{track("s.orders")});
    apply();
  }
  void follow_days() {
    execute(
        "create table s.days (id integer, day integer, primary key (id, day)) partition by list (day); "
        "create table s.day_1 partition of s.days for values in (1); "
        "create table s.day_2 partition of s.days for values in (2); "
        "insert into s.days values (1, 1), (2, 1), (1, 2); "
        "create view s.entries as select day || '-' || id as _id from s.days");
    defined_.add_index("s.entries", {track_by_row("s.days", "day || '-' || id")});
    apply();
  }
  void apply() {
    defined_.apply();
    defined_.captured();
    defined_.jobs();
  }
  void execute(const std::string& sql) { defined_.database().execute(sql); }
  // By a session that has run such statements before, so that it has plans of the triggers' code.
  void write(const std::string& sql) { support::execute(*writer_, sql); }
  Lines by(const std::string& sql) {
    defined_.captured();
    write(sql);
    return defined_.captured();
  }
  std::vector<std::string> findings() {
    PostgresSession session(defined_.config().source, "test");
    std::vector<std::string> lines;
    for (const Finding& finding : check_postgres(session, defined_.config()))
      lines.push_back(to_line(finding));
    return lines;
  }

  DefinedDatabase defined_;
  std::unique_ptr<pqxx::connection> writer_;
};

// --- no writer fails ---

TEST_F(TableChangesTest, RenamedColumnLeavesWritersAloneAndEveryChangedRowCounts) {
  follow_orders();
  EXPECT_EQ(by("update s.orders set title = 'x' where id = 1"), Lines{"s.orders (id): 1"});
  EXPECT_EQ(by("update s.orders set note = 'x' where id = 1"), Lines{});
  execute("alter table s.orders rename title to name");
  EXPECT_EQ(by("update s.orders set name = 'y' where id = 1"), Lines{"s.orders (id): 1"});
  EXPECT_EQ(by("update s.orders set name = 'z' where id in (2, 3)"), Lines{"s.orders (id): 2 3"});
  EXPECT_EQ(by("update s.orders set id = 100 where id = 4"), Lines{"s.orders (id): 100 4"});
  EXPECT_EQ(by("insert into s.orders (id) values (101)"), Lines{"s.orders (id): 101"});
  EXPECT_EQ(by("delete from s.orders where id = 101"), Lines{"s.orders (id): 101"});
  EXPECT_EQ(by("update s.orders set name = 'y' where false"), Lines{});
  EXPECT_THAT(findings(), Contains(AllOf(HasSubstr("triggers of s.orders do not fit it any more"),
                                         HasSubstr("column orders.title does not exist"))));
  apply();
  EXPECT_EQ(by("update s.orders set note = 'y' where id = 1"), Lines{});
  EXPECT_EQ(by("update s.orders set name = 'a' where id = 1"), Lines{"s.orders (id): 1"});
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(TableChangesTest, ManyRowsOfAStatementThatTookTheFallbackBecomeArraysOfAThousandValues) {
  follow_orders();
  execute("alter table s.orders rename title to name");
  write("insert into s.orders (id) select i from generate_series(1001, 3500) as i");
  EXPECT_EQ(defined_.outbox_rows(), 3);
  EXPECT_EQ(defined_.database().number("select count(distinct k) from lockstep.outbox, unnest(keys) as k"),
            2500);
}

TEST_F(TableChangesTest, DroppedColumnLeavesWritersAlone) {
  follow_orders("s.whole");
  by("update s.orders set note = 'x' where id = 1");
  execute("alter table s.orders drop column note");
  EXPECT_EQ(by("update s.orders set title = 'x' where id = 1"), Lines{"s.orders (id): 1"});
  EXPECT_EQ(by("update s.orders set title = 'x' where id = 1"), Lines{}) << "it is the whole row that counts";
  EXPECT_EQ(by("update s.orders set title = 'y' where id in (1, 2)"), Lines{"s.orders (id): 1 2"});
}

TEST_F(TableChangesTest, ColumnAddedBelowAWholeRowIsCapturedAtOnce) {
  follow_orders("s.whole");
  by("update s.orders set note = 'x' where id = 1");
  execute("alter table s.orders add column colour text default 'red'");
  EXPECT_EQ(by("update s.orders set colour = 'blue' where id = 1"), Lines{"s.orders (id): 1"});
  EXPECT_EQ(by("update s.orders set colour = 'blue' where id in (1, 2)"), Lines{"s.orders (id): 2"});
  EXPECT_EQ(by("update s.orders set id = 100 where id = 3"), Lines{"s.orders (id): 100 3"});
}

TEST_F(TableChangesTest, DroppedPrimaryKeyColumnLeavesWritersAloneAndTheWholeTableCounts) {
  follow_orders();
  by("update s.orders set title = 'x' where id = 1");
  execute("alter table s.orders drop column id cascade");
  EXPECT_EQ(by("update s.orders set title = 'y' where note = 'note'"), Lines{"s.orders (id): everything"});
  EXPECT_EQ(by("insert into s.orders (note) values ('n')"), Lines{"s.orders (id): everything"});
  EXPECT_EQ(by("delete from s.orders where note = 'n'"), Lines{"s.orders (id): everything"});
  EXPECT_EQ(by("delete from s.orders where false"), Lines{});
}

TEST_F(TableChangesTest, ChangedTypeLeavesWritersAlone) {
  follow_orders("s.whole");
  by("update s.orders set title = 'x' where id = 1");
  execute(
      "drop view s.v; drop view s.by_customer; alter table s.orders alter title type jsonb using "
      "to_jsonb(title)");
  EXPECT_EQ(by("update s.orders set title = '1' where id = 1"), Lines{"s.orders (id): 1"});
  EXPECT_EQ(by("update s.orders set title = '2' where id in (1, 2)"), Lines{"s.orders (id): 1 2"});
}

TEST_F(TableChangesTest, DroppedFunctionOfAnExpressionLeavesWritersAlone) {
  defined_.add_index("s.by_customer", {track("s.customers"), track_by_row("s.orders", "s.customer_of(id)")});
  apply();
  EXPECT_EQ(by("update s.orders set title = 'x' where id = 12"), Lines{"s.orders (s.customer_of(id)): 2"});
  execute("drop function s.customer_of(integer)");
  EXPECT_EQ(by("update s.orders set title = 'y' where id = 12"),
            Lines{"s.orders (s.customer_of(id)): everything"});
  EXPECT_EQ(by("delete from s.orders where id in (12, 13)"),
            Lines{"s.orders (s.customer_of(id)): everything"});
  execute(
      "create function s.customer_of(o integer) returns integer language sql immutable as 'select o % 10'");
  EXPECT_EQ(by("update s.orders set title = 'x' where id = 14"), Lines{"s.orders (s.customer_of(id)): 4"});
}

TEST_F(TableChangesTest, RowForWhichAnExpressionFailsLeavesItsWriterAlone) {
  defined_.add_index(
      "s.by_customer",
      {track("s.customers"), track_by_row("s.orders", "coalesce(nullif(note, 'note')::integer, 7)")});
  apply();
  const std::string capture = "s.orders (coalesce(nullif(note, 'note')::integer, 7)): ";
  EXPECT_EQ(by("update s.orders set note = '3' where id = 1"), Lines{capture + "3 7"});
  EXPECT_EQ(by("update s.orders set note = 'three' where id = 1"), Lines{capture + "everything"});
  EXPECT_EQ(by("update s.orders set note = case when id = 50 then 'four' else '4' end where id > 40"),
            Lines{capture + "everything"});
  EXPECT_EQ(by("delete from s.orders where id > 40"), Lines{capture + "everything"});
  EXPECT_EQ(by("update s.orders set note = '5' where id = 2"), Lines{capture + "5 7"});
}

// A row that a subtransaction wrote would have another xmin than its transaction.
TEST_F(TableChangesTest, TriggerTakesNoTransactionIdOfItsOwn) {
  follow_orders();
  write("update s.orders set title = 'x' where id = 1; update s.orders set title = 'y' where id < 30");
  write("insert into s.orders (id) values (100); delete from s.orders where id > 40");
  EXPECT_EQ(defined_.outbox_rows(), 4);
  EXPECT_EQ(defined_.database().number("select count(*) from lockstep.outbox where xmin::text::bigint <> "
                                       "txid::text::bigint & 4294967295"),
            0);
}

TEST_F(TableChangesTest, ViewThatFailsForItsFirstDocumentIsNotTakenForReadable) {
  follow_orders();
  const std::unique_ptr<Source> source = open_source(defined_.config(), "test");
  source->reload();
  const auto require_readable = [&] {
    source->changes().read()->require_readable(source->pipeline().indices.at(0));
  };
  EXPECT_NO_THROW(require_readable());
  execute(
      "create or replace function s.shout(t text) returns text language sql immutable "
      "begin atomic select (1 / (length(t) - length(t)))::text; end");
  EXPECT_THROW(require_readable(), ViewError);
  execute(
      "create or replace function s.shout(t text) returns text language sql immutable "
      "begin atomic select upper(t); end");
  EXPECT_NO_THROW(require_readable());
}

// --- the next apply and the leader see what has changed ---

class ChangedPartsTest
    : public TableChangesTest,
      public ::testing::WithParamInterface<std::tuple<const char*, const char*, const char*>> {};

TEST_P(ChangedPartsTest, ChangeThatFiresNoTriggerIsNamedAndMakesApplyWriteAllAgain) {
  const auto [view, change, part] = GetParam();
  follow_orders(view);
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_THAT(defined_.planned(), IsEmpty());
  execute(change);
  EXPECT_THAT(findings(), Contains(AllOf(HasSubstr(part), HasSubstr("changed since the last apply"))));
  defined_.apply();
  EXPECT_THAT(defined_.jobs(), Contains(AllOf(HasSubstr("backfill: the view or what it reads has changed: "),
                                              HasSubstr(part))));
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_THAT(defined_.planned(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Changes, ChangedPartsTest,
    ::testing::Values(
        std::tuple("s.v", "alter type s.mood rename value 'sad' to 'blue'", "type s.mood"),
        std::tuple("s.v", "alter type s.address rename attribute town to city", "type s.address"),
        std::tuple("s.v", "alter type s.address add attribute country text", "type s.address"),
        std::tuple("s.v",
                   "create or replace function s.shout(t text) returns text language sql immutable begin "
                   "atomic select t; end",
                   "function s.shout(text)"),
        std::tuple("s.v", "create or replace view s.names as select id, upper(name) as name from s.customers",
                   "view s.names"),
        std::tuple("s.v", "alter table s.orders enable row level security", "table s.orders"),
        std::tuple(
            "s.whole",
            "drop view s.v; drop view s.by_customer; alter table s.orders alter title type varchar(5) using "
            "left(title, 5)",
            "table s.orders"),
        std::tuple("s.whole", "alter table s.orders add column colour text default 'red'", "table s.orders"),
        std::tuple("s.whole", "alter table s.orders drop column note", "table s.orders"),
        std::tuple("s.whole", "alter table s.orders rename note to remark", "table s.orders"),
        std::tuple("s.whole", "alter type s.mood rename value 'sad' to 'blue'", "type s.mood")));

// The definition is what it was, and other values show only in the catalogue's rows: the index is compared.
TEST_F(TableChangesTest, AColumnRewrittenUnderItsTypeIsNamedAndComparedByApply) {
  follow_orders("s.whole");
  execute("alter table s.orders alter note type text using upper(note)");
  EXPECT_THAT(findings(), Contains(AllOf(HasSubstr("table s.orders"), HasSubstr("since the last apply"))));
  defined_.apply();
  const auto jobs = defined_.jobs();  // which this takes
  EXPECT_THAT(jobs, Contains(AllOf(HasSubstr("comparison: "), HasSubstr("table s.orders"))));
  EXPECT_THAT(jobs, Contains(AllOf(HasSubstr("sweep: "), HasSubstr("table s.orders"))));
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

TEST_F(TableChangesTest, WhatChangesNoDocumentMakesApplyWriteNothing) {
  follow_orders();
  execute(
      "alter table s.orders add column colour text default 'red'; create index on s.orders (title); "
      "alter table s.orders alter note type varchar(100); analyze s.orders; truncate s.customers; "
      "comment on table s.orders is 'x'; alter table s.orders alter note set statistics 10");
  execute("vacuum full s.orders");
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

TEST_F(TableChangesTest, DatabaseRestoredFromADumpHasNotChangedWhatAnIndexIsMadeOf) {
  follow_orders("s.whole");
  execute("alter table s.orders drop column note");
  apply();
  support::PostgresDatabase copy;
  const std::string command = "pg_dump '" + defined_.database().url() + "' | psql -q -v ON_ERROR_STOP=1 '" +
                              copy.url() + "' > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  defined_.config().source.url = copy.url();
  EXPECT_THAT(findings(), IsEmpty());
  copy.execute("alter type s.mood rename value 'sad' to 'blue'");
  EXPECT_THAT(findings(), Contains(HasSubstr("index-1: type s.mood changed")));
}

TEST_F(TableChangesTest, PartitionThatIsDetachedOrDroppedIsNamed) {
  follow_days();
  EXPECT_THAT(findings(), IsEmpty());
  execute("alter table s.days detach partition s.day_1; drop table s.day_2");
  EXPECT_THAT(findings(), Contains(HasSubstr("s.day_1 is no part of s.days any more")));
  EXPECT_THAT(findings(), Contains(HasSubstr("s.day_2 is no part of s.days any more")));
  defined_.apply();
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

TEST_F(TableChangesTest, DetachedPartitionIsNotedRowByRowAndLosesItsTriggers) {
  follow_days();
  execute("alter table s.days detach partition s.day_1");
  defined_.apply();
  EXPECT_EQ(defined_.captured(), Lines{kDays + "1-1 1-2"});
  EXPECT_THAT(defined_.jobs(), IsEmpty());
  EXPECT_EQ(by("insert into s.day_1 values (3, 1); truncate s.day_1"), Lines{});
}

TEST_F(TableChangesTest, DroppedPartitionMakesAComparisonOfItsIndexAndOfNoOther) {
  follow_days();
  defined_.add_index("s.v", {track("s.orders"), track_by_column("s.customers", "_customer")});
  apply();
  execute("drop table s.day_1");
  defined_.apply();
  EXPECT_EQ(defined_.captured(), Lines{});
  EXPECT_EQ(defined_.jobs(), (Lines{"comparison: s.day_1, a part of s.days, was dropped",
                                    "sweep: s.day_1, a part of s.days, was dropped"}));
}

TEST_F(TableChangesTest, EmptyNewPartitionIsCapturedAndNothingIsComparedForIt) {
  follow_days();
  execute("create table s.day_3 partition of s.days for values in (3)");
  EXPECT_THAT(findings(), ElementsAre(AllOf(HasSubstr("s.day_3"), HasSubstr("has no triggers yet"))));
  defined_.apply();
  EXPECT_EQ(defined_.captured(), Lines{});
  EXPECT_THAT(defined_.jobs(), IsEmpty());
  EXPECT_THAT(defined_.planned(), IsEmpty());
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(by("insert into s.day_3 values (1, 3)"), Lines{kDays + "3-1"});
  EXPECT_EQ(by("truncate s.day_3"), Lines{kDays + "everything"});
}

TEST_F(TableChangesTest, RowsWrittenIntoANewPartitionBeforeItHadTriggersAreFound) {
  follow_days();
  execute(
      "create table s.day_3 partition of s.days for values in (3); insert into s.day_3 values (1, 3), (2, "
      "3); "
      "create table s.later (id integer, day integer, primary key (id, day)); insert into s.later values (7, "
      "4); "
      "alter table s.days attach partition s.later for values in (4)");
  defined_.apply();
  EXPECT_EQ(defined_.captured(), Lines{kDays + "3-1 3-2 4-7"});
  EXPECT_THAT(defined_.jobs(), IsEmpty());
}

TEST_F(TableChangesTest, PartitionsBelowAPartitionAreFollowed) {
  follow_days();
  execute(
      "create table s.day_3 partition of s.days for values in (3) partition by range (id); "
      "create table s.day_3_low partition of s.day_3 for values from (0) to (100); "
      "insert into s.day_3_low values (1, 3)");
  defined_.apply();
  EXPECT_EQ(defined_.captured(), Lines{kDays + "3-1"});
  EXPECT_EQ(by("update s.day_3 set id = 2"), Lines{kDays + "3-1 3-2"});
  EXPECT_EQ(by("update s.day_3_low set id = 3"), Lines{kDays + "3-2 3-3"});
}

TEST_F(TableChangesTest, PartitionWhoseRowsCannotBeLookedAtMakesAComparison) {
  execute(
      "create table s.days (id integer, day integer, note text) partition by list (day); "
      "create table s.day_1 partition of s.days for values in (1); "
      "create view s.entries as select id as _id from s.days");
  defined_.add_index("s.entries", {track_by_row("s.days", "coalesce(note::integer, id)")});
  apply();
  execute(
      "create table s.day_2 partition of s.days for values in (2); insert into s.day_2 values (1, 2, 'x')");
  defined_.apply();
  EXPECT_EQ(defined_.captured(), Lines{});
  EXPECT_THAT(defined_.jobs(), Contains(AllOf(HasSubstr("comparison: "), HasSubstr("cannot be looked at"))));
}

TEST_F(TableChangesTest, PartitionThatComesAndGoesWithAnInheritingTableIsFollowed) {
  execute(
      "create table s.animals (id integer primary key, name text); create table s.dogs () inherits "
      "(s.animals); "
      "create view s.pets as select id as _id, name from s.animals");
  defined_.add_index("s.pets", {track("s.animals")});
  apply();
  execute("insert into s.dogs values (1, 'Rex'); alter table s.dogs no inherit s.animals");
  defined_.apply();
  EXPECT_EQ(defined_.captured(), Lines{"s.animals (id): 1"});
  execute("alter table s.dogs inherit s.animals");
  defined_.apply();
  EXPECT_EQ(defined_.captured(), Lines{"s.animals (id): 1"});
  EXPECT_EQ(by("update s.dogs set name = 'Max'"), Lines{"s.animals (id): 1"});
}

TEST_F(TableChangesTest, UpdateOfAColumnThatOnlyAnInheritingTableHasIsCaptured) {
  execute(
      "create table s.animals (id integer primary key, name text); "
      "create table s.dogs (breed text) inherits (s.animals); alter table s.dogs add primary key (id); "
      "insert into s.dogs values (1, 'Rex', 'collie'), (2, 'Spot', 'poodle'); "
      "create view s.pets as select a.id as _id, a.name, (select d.breed from s.dogs as d where d.id = a.id) "
      "as breed "
      "from s.animals as a");
  defined_.add_index("s.pets", {track("s.animals")});
  apply();
  EXPECT_EQ(by("update s.dogs set breed = 'husky' where id = 1"), Lines{"s.animals (id): 1"});
  EXPECT_EQ(by("update s.dogs set breed = 'husky'"), Lines{"s.animals (id): 1 2"});
  EXPECT_EQ(by("update s.animals set name = 'Max' where id = 2"), Lines{"s.animals (id): 2"});
}

TEST_F(TableChangesTest, TrackedChildOfAnInheritanceIsCapturedThroughItsParentToo) {
  execute(
      "create table s.animals (id integer primary key, name text); "
      "create table s.dogs (breed text) inherits (s.animals); alter table s.dogs add primary key (id); "
      "insert into s.dogs values (1, 'Rex', 'collie'), (2, 'Spot', 'poodle'); insert into s.animals values "
      "(9, 'Cat'); "
      "create view s.pets as select id as _id, name, breed from s.dogs");
  defined_.add_index("s.pets", {track("s.dogs")});
  EXPECT_EQ(defined_.faults(), "");
  apply();
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(by("update s.dogs set breed = 'husky' where id = 1"), Lines{"s.animals (id): 1"});
  EXPECT_EQ(by("update s.animals set name = 'Max' where id = 2"), Lines{"s.animals (id): 2"});
  EXPECT_EQ(by("insert into s.dogs values (3, 'Ben', 'dachshund')"), Lines{"s.animals (id): 3"});
  EXPECT_EQ(by("delete from s.animals where id = 3"), Lines{"s.animals (id): 3"});
}

TEST_F(TableChangesTest, TrackedPartitionIsCapturedThroughItsTableToo) {
  execute(
      "create table s.days (id integer, day integer, name text, primary key (id, day)) partition by list "
      "(day); "
      "create table s.day_1 partition of s.days for values in (1); "
      "create table s.day_2 partition of s.days for values in (2); "
      "create view s.first as select id as _id, name from s.day_1");
  defined_.add_index("s.first", {track_by_row("s.day_1", "id")});
  apply();
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(by("insert into s.days values (5, 1, 'a')"), Lines{"s.days (id): 5"});
  EXPECT_EQ(by("update s.day_1 set name = 'b'"), Lines{"s.days (id): 5"});
  EXPECT_EQ(by("update s.days set day = 2"), Lines{"s.days (id): 5"});
}

TEST_F(TableChangesTest, ColumnOfItsOwnByWhichAChildIsTrackedIsAFault) {
  execute(
      "create table s.animals (id integer primary key, name text); "
      "create table s.dogs (owner integer) inherits (s.animals); alter table s.dogs add primary key (id); "
      "create view s.owners as select owner as _id, count(*) as dogs from s.dogs group by owner");
  defined_.add_index("s.owners", {track_by_row("s.dogs", "owner")});
  EXPECT_THAT(defined_.faults(),
              AllOf(HasSubstr("s.dogs is a part of s.animals, whose changes it would miss"),
                    HasSubstr("track s.animals")));
}

// What only the child has is read through the child, and the parent is tracked.
TEST_F(TableChangesTest, UpdateOfWhatAViewOverAChildReadsIsCapturedByTheTrackOfTheParent) {
  execute(
      "create table s.animals (id integer primary key, name text); "
      "create table s.dogs (breed text) inherits (s.animals); alter table s.dogs add primary key (id); "
      "insert into s.dogs values (1, 'Rex', 'collie'); "
      "create view s.pets as select id as _id, breed from s.dogs; "
      "create view s.whole_pets as select id as _id, to_jsonb(d) as dog from s.dogs as d");
  defined_.add_index("s.pets", {track("s.animals")});
  apply();
  EXPECT_EQ(by("update s.dogs set breed = 'husky'"), Lines{"s.animals (id): 1"});
  defined_.config().indices.clear();
  defined_.add_index("s.whole_pets", {track("s.animals")});
  apply();
  EXPECT_EQ(by("update s.dogs set breed = 'poodle'"), Lines{"s.animals (id): 1"});
}

TEST_F(TableChangesTest, IndexThatAnOlderLockstepHasAppliedIsNamed) {
  follow_orders();
  execute("update lockstep.index set definition = '0123456789abcdef'");
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("was applied by an older lockstep")));
  defined_.apply();
  EXPECT_THAT(defined_.jobs(),
              Contains(HasSubstr("an older lockstep, which knew less of it, has applied it")));
  EXPECT_THAT(findings(), IsEmpty());
}

}  // namespace
}  // namespace lockstep
