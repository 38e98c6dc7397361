// What the generated triggers write, for every kind of statement and table. Numbers T1 to T4 are those of
// replicator/source/postgres/define/triggers.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPosts = R"sql(
create schema s;
create table s.users (id integer primary key, name text);
create table s.posts (id integer primary key, user_id integer references s.users on delete cascade on update cascade,
                      editor_id integer references s.users on delete set null, title text, hits integer default 0);
create view s.v as select u.id as _id, u.name, (select jsonb_agg(p.title) from s.posts as p where p.user_id = u.id) as titles
from s.users as u;
)sql";

// Users with their posts inside: a post leads to its user, old and new.
class TriggersTest : public ::testing::Test {
 protected:
  TriggersTest() : defined_(kPosts) {
    defined_.add_index("s.v", {track("s.users"), track_by_row("s.posts", "user_id")});
    defined_.apply();
    defined_.database().execute(
        "insert into s.users select i, 'user ' || i from generate_series(1, 9) as i;"
        "insert into s.posts (id, user_id, title) select i, i % 9 + 1, 'post ' || i from generate_series(1, "
        "90) as i");
    defined_.captured();
  }
  Lines by(const std::string& sql) { return defined_.captured_by(sql); }

  DefinedDatabase defined_;
  const Lines kNothing = {};
};

TEST_F(TriggersTest, OldAndNewValueOfARowAreCaptured) {
  EXPECT_EQ(by("update s.posts set user_id = 5 where id = 1"), Lines{"s.posts (user_id): 2 5"});
}

TEST_F(TriggersTest, NullLeadsNowhere) {
  EXPECT_EQ(by("update s.posts set user_id = null where id = 1"), Lines{"s.posts (user_id): 2"});
  EXPECT_EQ(by("update s.posts set title = 'x' where id = 1"), kNothing);
  EXPECT_EQ(by("insert into s.posts (id) values (1001), (1002)"), kNothing);
  EXPECT_EQ(by("delete from s.posts where id = 1001"), kNothing);
  EXPECT_EQ(by("update s.posts set user_id = 5 where id in (1, 1002)"), Lines{"s.posts (user_id): 5"});
}

TEST_F(TriggersTest, StatementsThatTouchNoRowWriteNothing) {
  defined_.database().execute(
      "update s.posts set title = 'x' where false; delete from s.posts where false; "
      "insert into s.posts select * from s.posts where false");
  EXPECT_EQ(defined_.outbox_rows(), 0);
}

TEST_F(TriggersTest, UpdateThatChangesNothingWritesNothing) {
  defined_.database().execute(
      "update s.posts set title = title, user_id = user_id; update s.posts set hits = hits + 1 where id = 1");
  EXPECT_EQ(defined_.outbox_rows(), 0);
}

TEST_F(TriggersTest, OnlyTheRowsOfAStatementThatChangedCount) {
  EXPECT_EQ(
      by("update s.posts set title = case when id in (10, 20) then 'new' else title end, hits = hits + 1"),
      Lines{"s.posts (user_id): 2 3"});
}

TEST_F(TriggersTest, ChangedPrimaryKeyIsCapturedOldAndNew) {
  EXPECT_EQ(by("update s.users set id = 100 where id = 1"),
            (Lines{"s.users (id): 1 100", "s.posts (user_id): 1 100"}));
}

TEST_F(TriggersTest, PrimaryKeysThatChangePlacesAreCaptured) {
  defined_.database().execute(
      "create table s.t (id integer primary key deferrable, x text); "
      "insert into s.t values (1, 'a'), (2, 'b'), (3, 'c'); "
      "create view s.w as select id as _id, x from s.t");
  defined_.add_index("s.w", {track("s.t")});
  defined_.apply();
  EXPECT_EQ(by("update s.t set id = 3 - id where id < 3"), Lines{"s.t (id): 1 2"});
}

TEST_F(TriggersTest, CascadesAreCaptured) {
  EXPECT_EQ(by("delete from s.users where id = 2"), (Lines{"s.users (id): 2", "s.posts (user_id): 2"}));
  defined_.database().execute("update s.posts set editor_id = 3 where user_id = 4");
  EXPECT_EQ(by("delete from s.users where id = 3"), (Lines{"s.users (id): 3", "s.posts (user_id): 3"}));
}

TEST_F(TriggersTest, UpsertsAreCapturedAsWhatTheyDid) {
  EXPECT_EQ(by("insert into s.users values (1, 'new'), (50, 'fifty'), (2, 'user 2') "
               "on conflict (id) do update set name = excluded.name"),
            Lines{"s.users (id): 1 50"});
  EXPECT_EQ(by("insert into s.users values (1, 'newer') on conflict do nothing"), kNothing);
}

TEST_F(TriggersTest, MergeIsCapturedAsWhatItDid) {
  EXPECT_EQ(by("merge into s.users as u using (values (1, 'new'), (2, 'user 2'), (3, null), (60, 'sixty')) "
               "as m (id, name) "
               "on m.id = u.id when matched and m.name is null then delete when matched then update set name "
               "= m.name "
               "when not matched then insert values (m.id, m.name)"),
            (Lines{"s.users (id): 1 3 60", "s.posts (user_id): 3"}));
}

TEST_F(TriggersTest, CopyIsCaptured) {
  const auto connection = defined_.database().connect();
  {
    pqxx::work transaction(*connection);
    transaction.exec0("set local search_path = s");
    pqxx::stream_to copy(transaction, "users");
    copy << std::make_tuple(70, "seventy") << std::make_tuple(71, "seventy-one");
    copy.complete();
    transaction.commit();
  }
  EXPECT_EQ(defined_.captured(), Lines{"s.users (id): 70 71"});
}

TEST_F(TriggersTest, TruncateSaysThatAnyRowMayHaveChanged) {
  EXPECT_EQ(by("truncate s.posts"), Lines{"s.posts (user_id): everything"});
}

TEST_F(TriggersTest, WhatIsRolledBackIsNotCaptured) {
  EXPECT_EQ(by("begin; update s.users set name = 'a' where id = 1; savepoint p; update s.users set name = "
               "'b' where id = 2; "
               "rollback to p; savepoint q; update s.users set name = 'c' where id = 3; release q; commit"),
            Lines{"s.users (id): 1 3"});
  EXPECT_EQ(by("begin; update s.users set name = 'd' where id = 1; rollback"), kNothing);
}

TEST_F(TriggersTest, ManyRowsBecomeArraysOfAThousandDistinctValues) {
  defined_.database().execute("insert into s.users select i, 'x' from generate_series(1001, 3500) as i");
  EXPECT_EQ(defined_.outbox_rows(), 3);
  EXPECT_EQ(defined_.database().number("select max(cardinality(keys)) from lockstep.outbox"), 1000);
  EXPECT_EQ(defined_.database().number("select count(distinct k) from lockstep.outbox, unnest(keys) as k"),
            2500);
  defined_.captured();
  defined_.database().execute("update s.posts set title = 'all of the same'");
  EXPECT_EQ(defined_.outbox_rows(), 1) << "90 posts, 9 users";
  EXPECT_EQ(defined_.database().number("select sum(cardinality(keys)) from lockstep.outbox"), 9);
}

TEST_F(TriggersTest, PlanMadeForOneRowStaysLinearForMany) {  // T3
  const auto connection = defined_.database().connect();
  support::execute(*connection, "insert into s.users select i, 'x' from generate_series(1001, 101000) as i");
  support::execute(*connection, "set statement_timeout = '120s'");
  for (int i = 0; i < 10; ++i) {
    support::execute(*connection, "update s.users set name = name || 'y' where id = 1001");
    support::execute(*connection, "update s.users set name = name || 'y' where id in (1001, 1002)");
  }
  defined_.captured();
  support::execute(*connection, "update s.users set name = 'z' where id > 1000");
  EXPECT_EQ(defined_.database().number("select sum(cardinality(keys)) from lockstep.outbox"), 100'000);
}

TEST_F(TriggersTest, TwoPhaseCommitIsCaptured) {
  defined_.database().execute("begin");
  const std::string name = "'" + defined_.database().name() + "'";
  defined_.database().execute(
      "commit; begin; update s.users set name = 'p' where id = 1; prepare transaction " + name);
  EXPECT_EQ(defined_.captured(), kNothing);
  defined_.database().execute("commit prepared " + name);
  EXPECT_EQ(defined_.captured(), Lines{"s.users (id): 1"});
}

// --- T1: what is equal and looks different ---

class ImageTest : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(ImageTest, ValueThatIsEqualAndLooksDifferentIsAChange) {
  const auto [type, before, after] = GetParam();
  DefinedDatabase defined(
      "create schema s; create extension citext schema public; set search_path = public; "
      "create table s.t (id integer primary key, value " +
      std::string(type) +
      "); "
      "insert into s.t values (1, " +
      before + "), (2, " + before +
      "); "
      "create view s.v as select id as _id, value from s.t");
  defined.add_index("s.v", {track("s.t")});
  defined.apply();
  EXPECT_EQ(defined.captured_by("set search_path = public; update s.t set value = " + std::string(after) +
                                " where id = 1"),
            Lines{"s.t (id): 1"});
  EXPECT_EQ(defined.captured_by("set search_path = public; update s.t set value = " + std::string(after)),
            Lines{"s.t (id): 2"});
}
INSTANTIATE_TEST_SUITE_P(
    Types, ImageTest,
    ::testing::Values(std::tuple("numeric", "1.0", "1.00"), std::tuple("citext", "'a'", "'A'"),
                      std::tuple("jsonb", "'{\"a\": 1.0}'", "'{\"a\": 1.00}'"),
                      std::tuple("float8", "0.0", "'-0.0'"), std::tuple("interval", "'1 day'", "'24 hours'"),
                      std::tuple("numeric[]", "'{1.0}'", "'{1.00}'"), std::tuple("json", "'{}'", "'{ }'"),
                      std::tuple("xml", "'<a/>'", "'<a></a>'"),
                      std::tuple("point", "'(1,1)'", "'(1,1.0000001)'"), std::tuple("text", "null", "''")));

TEST(ImageOfKeysTest, KeyThatIsEqualAndLooksDifferentIsCapturedOldAndNew) {
  DefinedDatabase defined(
      "create schema s; create extension citext schema public; "
      "create table s.t (code public.citext primary key, n numeric); insert into s.t values ('a', 1), ('b', "
      "1); "
      "create table s.u (n numeric primary key, code text); insert into s.u values (1.0, 'x'), (2.0, 'x'); "
      "create view s.v as select code::text as _id from s.t union all select 'n' || n from s.u");
  defined.add_index("s.v", {track("s.t"), track_by_row("s.u", "'n' || n")});
  defined.apply();
  EXPECT_EQ(defined.captured_by("update s.t set code = 'A' where code operator(public.=) 'a'::public.citext"),
            Lines{"s.t (code): A a"});
  EXPECT_EQ(defined.captured_by("update s.t set code = upper(code::text)::public.citext"),
            Lines{"s.t (code): B b"});
  EXPECT_EQ(defined.captured_by("update s.u set n = 1.00 where n = 1"), Lines{"s.u ('n' || n): n1.0 n1.00"});
  EXPECT_EQ(defined.captured_by("update s.u set n = n * 1.00"),
            Lines{"s.u ('n' || n): n1.00 n1.0000 n2.0 n2.000"});
}

TEST_F(TriggersTest, LongValuesOutOfLineAreCompared) {
  defined_.database().execute(
      "alter table s.users alter name set storage external; "
      "update s.users set name = repeat('a', 100000) where id in (1, 2)");
  defined_.captured();
  EXPECT_EQ(by("update s.users set name = name where id in (1, 2)"), kNothing);
  EXPECT_EQ(by("update s.users set name = repeat('a', 99999) || 'b' where id = 1"), Lines{"s.users (id): 1"});
}

// --- tables without a primary key, keys of several columns ---

TEST(TableWithoutKeyTest, EveryChangedRowIsCaptured) {
  DefinedDatabase defined(
      "create schema s; create table s.t (doc integer, x text, y text); "
      "insert into s.t values (1, 'a', 'a'), (1, 'a', 'a'), (2, 'b', 'b'); "
      "create view s.v as select doc as _id, string_agg(x, ',') as x from s.t group by doc");
  defined.add_index("s.v", {track_by_row("s.t", "doc")});
  defined.apply();
  EXPECT_EQ(defined.captured_by("update s.t set x = 'c' where doc = 2"), Lines{"s.t (doc): 2"});
  EXPECT_EQ(defined.captured_by("update s.t set x = 'c' where doc = 1"), Lines{"s.t (doc): 1"});
  EXPECT_EQ(defined.captured_by("update s.t set doc = doc + 1"), Lines{"s.t (doc): 1 2 3"});
  EXPECT_EQ(defined.captured_by("update s.t set y = 'c' where doc = 3"), Lines{});
}

TEST(CompositeKeyTest, IsAnArrayThatKeepsItsPartsApart) {
  DefinedDatabase defined(
      "create schema s; create table s.t (b text, a text, x text, primary key (a, b)); "
      "insert into s.t (a, b) values ('a-b', 'c'), ('a', 'b-c'); "
      "create view s.v as select jsonb_build_array(a, b)::text as _id, x from s.t");
  defined.add_index("s.v", {track("s.t")});
  defined.apply();
  EXPECT_EQ(defined.captured_by("update s.t set x = 'new'"),
            Lines{"s.t (jsonb_build_array(a, b)): [\"a\", \"b-c\"] [\"a-b\", \"c\"]"});
  EXPECT_EQ(defined.captured_by("update s.t set a = 'z' where a = 'a'"),
            Lines{"s.t (jsonb_build_array(a, b)): [\"a\", \"b-c\"] [\"z\", \"b-c\"]"});
}

// --- `columns` ---

TEST_F(TriggersTest, TrackWithColumnsCountsOnlyThose) {
  TrackConfig narrow = track_by_keys("s.posts", "select user_id from s.posts where id = any($1)");
  narrow.columns = {"title", "USER_ID"};
  defined_.config().indices[0].tracks.push_back(narrow);
  defined_.apply();
  EXPECT_EQ(by("update s.posts set title = 'new' where id = 1"),
            (Lines{"s.posts (user_id): 2", "s.posts (id): 1"}));
  EXPECT_EQ(by("update s.posts set editor_id = 1 where id = 1"), kNothing);
  EXPECT_EQ(by("update s.posts set id = 1000 where id = 1"),
            (Lines{"s.posts (user_id): 2", "s.posts (id): 1 1000"}));
  defined_.config().indices[0].tracks[2].columns = {"hits"};
  defined_.apply();
  EXPECT_EQ(by("update s.posts set hits = 7 where id = 2"), Lines{"s.posts (id): 2"});
  EXPECT_EQ(by("update s.posts set hits = hits + 1 where id < 4"), Lines{"s.posts (id): 2 3"});
}

// --- T4: whose session it is does not matter ---

TEST_F(TriggersTest, ApplicationRoleNeedsNoRightOnTheSchema) {
  const std::string role = defined_.database().create_role("application");
  defined_.database().execute("grant usage on schema s to " + role +
                              "; grant select, insert, update, delete, truncate on "
                              "all tables in schema s to " +
                              role);
  const auto connection = defined_.database().connect_as(role);
  support::execute(*connection,
                   "update s.users set name = 'by role' where id = 1; delete from s.posts where id = 1; "
                   "insert into s.users values (80, 'by role')");
  EXPECT_EQ(defined_.captured(), (Lines{"s.users (id): 1 80", "s.posts (user_id): 2"}));
  EXPECT_THROW(support::execute(*connection, "select * from lockstep.outbox"), pqxx::insufficient_privilege);
}

TEST_F(TriggersTest, SearchPathOfTheSessionIsNotFollowed) {
  const auto connection = defined_.database().connect();
  support::execute(
      *connection,
      "create schema trap; create function trap.record_image_ne(record, record) returns boolean language "
      "plpgsql as "
      "'begin return false; end'; create function trap.array_remove(anyarray, anyelement) returns anyarray "
      "language sql "
      "as 'select null'; create operator trap.= (leftarg = integer, rightarg = integer, function = int4ne); "
      "create temporary table outbox (capture integer, keys text[]); create temporary table old_rows (id "
      "integer); "
      "set search_path = trap, pg_temp, pg_catalog, s; "
      "update users set name = 'x' where id operator(pg_catalog.=) 1; "
      "update users set name = 'y' where id operator(pg_catalog.<) 3");
  EXPECT_EQ(defined_.captured(), Lines{"s.users (id): 1 2"});
}

// Functions, operators and types of the same names as the server's, in front of them.
constexpr const char* kShadows = R"sql(
create schema trap;
do $do$
declare
  shadow record;
begin
  for shadow in
    select distinct p.proname, pg_get_function_identity_arguments(p.oid) as arguments, p.prokind
    from pg_proc as p where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind in ('f', 'a', 'w')
      and p.proname ~ '^(array_|record_|unnest|row_number|int|text|bool|bttext|coalesce|nextval|pg_current_xact)'
      and p.proargtypes::oid[] && '{2281}'::oid[] is false
  loop
    begin
      execute format('create function trap.%I(%s) returns boolean language plpgsql as $$ begin raise ''trapped''; end $$',
                     shadow.proname, shadow.arguments);
    exception when others then null;
    end;
  end loop;
  for shadow in
    select o.oprname, format_type(o.oprleft, null) as l, format_type(o.oprright, null) as r
    from pg_operator as o where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprkind = 'b'
      and o.oprname in ('=', '<>', '<', '>', '+', '-', '/', '%', '||')
  loop
    begin
      execute format('create function trap.springs(%1$s, %2$s) returns boolean language plpgsql as '
                     '$$ begin raise ''trapped''; end $$', shadow.l, shadow.r);
    exception when others then null;
    end;
    begin
      execute format('create operator trap.%s (leftarg = %s, rightarg = %s, function = trap.springs)',
                     shadow.oprname, shadow.l, shadow.r);
    exception when others then null;
    end;
  end loop;
end
$do$;
create domain trap.text as varchar check (pg_catalog.length(value) operator(pg_catalog.<) 0);
create domain trap.int8 as pg_catalog.int8 check (value operator(pg_catalog.<) -1000000);
create collation trap."C" from pg_catalog."POSIX";
)sql";

TEST_F(TriggersTest, NothingInFrontOfTheServersOwnNamesIsUsed) {  // T4
  defined_.database().execute(kShadows);
  ASSERT_GT(defined_.database().number(
                "select count(*) from pg_operator where oprnamespace = 'trap'::regnamespace"),
            100);
  ASSERT_GT(
      defined_.database().number("select count(*) from pg_proc where pronamespace = 'trap'::regnamespace and "
                                 "proname ~ '^(array_remove|record_image_ne|array_agg|unnest|row_number)$'"),
      3);
  const auto connection = defined_.database().connect();
  // No plan of another search_path is left.
  support::execute(*connection, "set search_path = trap, pg_catalog, s");
  EXPECT_THROW(support::execute(*connection, "select 1 = 1"), pqxx::sql_error) << "the trap does not work";
  for (const char* statement :
       {"update s.users set name = 'x' where id operator(pg_catalog.=) 1",
        "update s.users set name = 'y' where id operator(pg_catalog.<=) 3",
        "update s.users set id = 100 where id operator(pg_catalog.=) 9",
        "insert into s.users values (200, 'a')", "insert into s.users values (201, 'a'), (202, 'a')",
        "delete from s.users where id operator(pg_catalog.=) 201",
        "delete from s.users where id operator(pg_catalog.>=) 200",
        "update s.posts set user_id = 5 where id operator(pg_catalog.=) 1", "truncate s.posts"}) {
    support::execute(*connection, statement);
  }
  support::execute(*connection, "reset search_path");
  EXPECT_EQ(defined_.captured(),
            (Lines{"s.users (id): 1 100 2 200 201 202 3 9", "s.posts (user_id): everything"}));
}

// How many functions of a table have the rights of their owner, and how many of these a fixed search_path.
Lines functions_of(DefinedDatabase& defined, const std::string& table) {
  const pqxx::result counts = defined.database().query(
      "select count(*), count(*) filter (where prosecdef), "
      "count(*) filter (where prosecdef and 'search_path=pg_catalog, pg_temp' = any(proconfig)) "
      "from pg_proc where proname like 'capture\\_1\\_" +
      table + "\\_%'");
  return {counts[0][0].c_str() + std::string(" functions"), counts[0][1].c_str() + std::string(" definers"),
          counts[0][2].c_str() + std::string(" paths")};
}

TEST_F(TriggersTest, TriggersThatRunNothingButTheServersOwnHaveNoSearchPath) {  // T4
  const Lines without = {"6 functions", "6 definers", "2 paths"};
  const Lines with = {"6 functions", "6 definers", "6 paths"};
  EXPECT_EQ(functions_of(defined_, "users"), without);
  EXPECT_EQ(functions_of(defined_, "posts"), without);
  defined_.config().indices[0].tracks[1].row = "user_id + 0";
  defined_.apply();
  EXPECT_EQ(functions_of(defined_, "users"), without);
  EXPECT_EQ(functions_of(defined_, "posts"), with) << "an expression may call anything";
  defined_.config().replication.max_outbox_size = 1 << 30;
  defined_.apply();
  EXPECT_EQ(functions_of(defined_, "users"), with) << "so may what looks how large the outbox is";
}

TEST(SearchPathTest, TypesThatAreNotTheServersOwnKeepIt) {  // T4
  DefinedDatabase defined(
      "create schema s; create extension citext schema public; create type s.kind as enum ('a'); "
      "create domain s.number as integer; "
      "create table s.keys (code public.citext primary key); create table s.labels (id s.kind primary key); "
      "create table s.pairs (a integer, b integer, primary key (a, b)); create table s.numbers (id s.number "
      "primary key); "
      "create view s.v as select code::text as _id from s.keys union all select id::text from s.labels "
      "union all select jsonb_build_array(a, b)::text from s.pairs union all select id::text from s.numbers");
  defined.add_index("s.v", {track("s.keys"), track("s.labels"), track("s.pairs"), track("s.numbers")});
  defined.apply();
  for (const char* table : {"keys", "labels", "pairs"})
    EXPECT_EQ(functions_of(defined, table), (Lines{"6 functions", "6 definers", "6 paths"})) << table;
  EXPECT_EQ(functions_of(defined, "numbers"), (Lines{"6 functions", "6 definers", "2 paths"}));
}

TEST_F(TriggersTest, SingleRowOfAStatementIsWrittenForEachCaptureThatItConcerns) {
  TrackConfig by_editor = track_by_row("s.posts", "editor_id");
  defined_.config().indices[0].tracks.push_back(by_editor);
  defined_.apply();
  EXPECT_EQ(by("insert into s.posts values (500, 1, 2, 'x')"),
            (Lines{"s.posts (user_id): 1", "s.posts (editor_id): 2"}));
  EXPECT_EQ(by("update s.posts set editor_id = 3, user_id = null where id = 500"),
            (Lines{"s.posts (user_id): 1", "s.posts (editor_id): 2 3"}));
  EXPECT_EQ(by("update s.posts set hits = 3 where id = 500"), kNothing);
  EXPECT_EQ(by("delete from s.posts where id = 500"), Lines{"s.posts (editor_id): 3"});
  EXPECT_EQ(by("insert into s.posts (id) values (501)"), kNothing);
}

TEST_F(TriggersTest, ReplicaRoleIsCapturedToo) {
  EXPECT_EQ(by("set session_replication_role = replica; update s.users set name = 'replicated' where id = 1"),
            Lines{"s.users (id): 1"});
}

TEST(SettingsTest, TextOfAValueDoesNotDependOnTheSession) {
  DefinedDatabase defined(
      "create schema s; create table s.t (at timestamptz primary key, i interval, b bytea, f double "
      "precision, x text); "
      "insert into s.t values ('2024-03-01 12:00+00', '1 day', '\\xff', 0.1); "
      "create view s.v as select at::text as _id, x from s.t");
  defined.add_index("s.v", {track("s.t"), track_by_row("s.t", "i::text"), track_by_row("s.t", "b"),
                            track_by_row("s.t", "f"), track_by_row("s.t", "jsonb_build_array(at)::text")});
  defined.apply();
  const Lines captured = defined.captured_by(
      "set timezone = 'Asia/Tokyo'; set datestyle = 'German'; set intervalstyle = 'iso_8601'; "
      "set bytea_output = 'escape'; set extra_float_digits = -10; update s.t set x = 'new'");
  EXPECT_EQ(captured,
            (Lines{"s.t (at): 2024-03-01 12:00:00+00", "s.t (i::text): 1 day", "s.t (b): \\xff",
                   "s.t (f): 0.1", "s.t (jsonb_build_array(at)::text): [\"2024-03-01T12:00:00+00:00\"]"}));
}

// --- partitions and inheritance ---

class PartitionsTest : public ::testing::Test {
 protected:
  PartitionsTest()
      : defined_(
            "create schema s; create table s.t (id integer, region text, x text, primary key (id, region)) "
            "partition by list (region); "
            "create table s.t_eu partition of s.t for values in ('de', 'fr') partition by list (region); "
            "create table s.t_de partition of s.t_eu for values in ('de'); "
            "create table s.t_fr (x text, junk text, region text not null, id integer not null); "
            "alter table s.t_fr drop column junk; alter table s.t_eu attach partition s.t_fr for values in "
            "('fr'); "
            "create table s.t_rest partition of s.t default; "
            "create view s.v as select id as _id, region, x from s.t") {
    defined_.add_index("s.v", {track_by_row("s.t", "id")});
    defined_.apply();
    defined_.database().execute(
        "insert into s.t select i, (array['de', 'fr', 'us'])[i], 'x' from generate_series(1, 3) as i");
    defined_.captured();
  }
  Lines by(const std::string& sql) { return defined_.captured_by(sql); }
  DefinedDatabase defined_;
};

TEST_F(PartitionsTest, StatementsOnTheParentAreCapturedOnce) {
  defined_.database().execute("update s.t set x = 'new'");
  EXPECT_EQ(defined_.outbox_rows(), 1);
  EXPECT_EQ(defined_.captured(), Lines{"s.t (id): 1 2 3"});
}

TEST_F(PartitionsTest, StatementsOnAPartitionAreCaptured) {
  EXPECT_EQ(by("update s.t_eu set x = 'new'"), Lines{"s.t (id): 1 2"});
  EXPECT_EQ(by("update s.t_fr set x = 'newer'"), Lines{"s.t (id): 2"});
  EXPECT_EQ(by("insert into s.t_de values (4, 'de', 'x'), (5, 'de', 'x')"), Lines{"s.t (id): 4 5"});
  EXPECT_EQ(by("delete from s.t_de where id > 3"), Lines{"s.t (id): 4 5"});
  EXPECT_EQ(by("truncate s.t_fr"), Lines{"s.t (id): everything"});
}

TEST_F(PartitionsTest, RowThatMovesToAnotherPartitionIsCaptured) {
  EXPECT_EQ(by("update s.t set region = 'us' where id = 1"), Lines{"s.t (id): 1"});
  EXPECT_EQ(by("update s.t set region = 'de', id = id + 10"), Lines{"s.t (id): 1 11 12 13 2 3"});
}

TEST_F(PartitionsTest, RowThatDisappearsOnItsMoveIsCaptured) {
  defined_.database().execute(
      "create function s.refuse() returns trigger language plpgsql as $$ begin return null; end $$; "
      "create trigger refuse before insert on s.t_rest for each row execute function s.refuse()");
  EXPECT_EQ(by("update s.t set region = 'us' where id = 1"), Lines{"s.t (id): 1"});
}

TEST_F(PartitionsTest, NewPartitionIsNoticed) {
  defined_.database().execute("create table s.t_jp partition of s.t for values in ('jp')");
  EXPECT_THAT(defined_.planned(), ::testing::ElementsAre("change parts of s.t"));
  defined_.jobs();
  defined_.apply();
  EXPECT_EQ(by("insert into s.t_jp values (9, 'jp', 'x')"), Lines{"s.t (id): 9"});
  EXPECT_EQ(defined_.jobs(), Lines{});
}

TEST_F(PartitionsTest, DetachedPartitionLosesItsTriggers) {
  defined_.database().execute("alter table s.t_eu detach partition s.t_fr");
  defined_.jobs();
  defined_.apply();
  EXPECT_EQ(defined_.captured(), Lines{"s.t (id): 2"});
  EXPECT_EQ(by("update s.t_fr set x = 'new'"), Lines{});
  EXPECT_EQ(defined_.jobs(), Lines{});
}

TEST_F(PartitionsTest, TrackOfAPartitionCoversNotTheWholeTable) {
  defined_.config().indices[0].tracks[0].table = "s.t_de";
  EXPECT_THAT(defined_.faults(), HasSubstr("reads table s.t, which no track covers"));
}

TEST(InheritanceTest, StatementsOnParentAndChildAreCaptured) {
  DefinedDatabase defined(
      "create schema s; create table s.parent (id integer primary key, x text); "
      "create table s.child (more text) inherits (s.parent); insert into s.parent values (1, 'x'); "
      "insert into s.child values (2, 'x', 'y'); create view s.v as select id as _id, x from s.parent");
  defined.add_index("s.v", {track("s.parent")});
  defined.apply();
  EXPECT_EQ(defined.captured_by("update s.parent set x = 'new'"), Lines{"s.parent (id): 1 2"});
  EXPECT_EQ(defined.captured_by("update s.child set x = 'newer'"), Lines{"s.parent (id): 2"});
  EXPECT_EQ(defined.captured_by("update s.child set more = 'newer'"), Lines{});
}

TEST(InheritanceTest, TableThatIsPartOfTwoTrackedOnesLeadsToBoth) {
  DefinedDatabase defined(
      "create schema s; create table s.a (id integer primary key, x text); create table s.b (id integer "
      "primary key, x text); "
      "create table s.both () inherits (s.a, s.b); "
      "create view s.v as select id as _id, x from s.a; create view s.w as select id as _id, x from s.b");
  defined.add_index("s.v", {track("s.a")});
  defined.add_index("s.w", {track("s.b")});
  defined.apply();
  EXPECT_EQ(defined.captured_by("insert into s.both values (1, 'x')"), (Lines{"s.a (id): 1", "s.b (id): 1"}));
  EXPECT_THAT(defined.planned(), ::testing::IsEmpty());
}

// --- names ---

class HostileNamesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(HostileNamesTest, WorkEverywhere) {
  const std::string name = GetParam();
  DefinedDatabase defined("select 1");
  const auto connection = defined.database().connect();
  const std::string q = connection->quote_name(name);
  defined.database().execute("create schema " + q + "; create table " + q + "." + q + " (" + q +
                             " integer primary key, several text, old1 text, "
                             "tg_op text, new_rows text, k1 text, v text, x text); insert into " +
                             q + "." + q +
                             " values (1), (2); "
                             "create view " +
                             q + ".\"v;'\" as select " + q + " as _id, " + q +
                             " as \"_\"\";'\", several, old1, tg_op, new_rows, k1, v, "
                             "x as " +
                             q + " from " + q + "." + q);
  defined.config().pipeline = name;
  TrackConfig by_column = track(q + "." + q);
  by_column.row = "upper(several) || k1 || " + q + "." + q;
  TrackConfig by_keys =
      track_by_keys(q + "." + q, "select " + q + " from " + q + "." + q + " where " + q + " = any($1) -- ;");
  TrackConfig by_view = track_by_column(q + "." + q, "_\";'");
  by_column.keys = "select 1 where $1 is null;";
  defined.add_index(q + ".\"v;'\"", {track(q + "." + q), by_keys, by_column, by_view});
  defined.config().indices[0].alias = "alias 'x'";
  defined.apply();
  EXPECT_THAT(defined.planned(), ::testing::IsEmpty());
  defined.captured();
  defined.database().execute("update " + q + "." + q + " set several = 'x', k1 = 'y'");
  EXPECT_EQ(defined.outbox_rows(), 2);
  defined.database().execute("insert into " + q + "." + q + " values (3); delete from " + q + "." + q);
  EXPECT_GT(defined.outbox_rows(), 2);
  defined.remove();
}
INSTANTIATE_TEST_SUITE_P(Names, HostileNamesTest,
                         ::testing::Values("Upper", "with space", "quote\"d", "apo'strophe", "semi;colon",
                                           "дерево", "select", "back\\slash", "dollar$lockstep$", "per%cent",
                                           "{schema}", "a.b", "old_rows", "o",
                                           "sixty_three_bytes_long_name_that_postgresql_still_takes_as_it_i",
                                           "Sechzig-drei Bytes lang & mit Umläuten: äöüßÄÖÜ 1234567890123"));

TEST(HostileSchemaTest, SchemaOfLockstepMayHaveAnyName) {
  DefinedDatabase defined(
      "create schema s; create table s.t (id integer primary key, x text); "
      "create view s.v as select id as _id, x from s.t");
  defined.add_index("s.v", {track("s.t"), track_by_column("s.t", "_id")});
  for (const char* name : {"Schema with 'quotes' and \"more\"; x", "{schema}",
                           "Sechzig-drei Bytes lang & mit Umläuten: äöüßÄÖÜ 1234567890123"}) {
    defined.config().source.schema = name;
    defined.apply();
    EXPECT_THAT(defined.planned(), ::testing::IsEmpty());
  }
  defined.database().execute("insert into s.t values (1, 'x')");
  EXPECT_EQ(defined.database().number("select count(*) from \"{schema}\".outbox"), 1);
  EXPECT_EQ(defined.database().number("select count(*) from pg_trigger where not tgisinternal"), 12);
  for (const char* name : {"{schema}", "Schema with 'quotes' and \"more\"; x"}) {
    defined.config().source.schema = name;
    defined.remove();
  }
  EXPECT_EQ(defined.database().number("select count(*) from pg_trigger where not tgisinternal"), 4);
}

}  // namespace
}  // namespace lockstep
