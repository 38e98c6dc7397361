// Which updates reach the outbox: each thing that PostgreSQL does not say about what a view reads would hide
// a change that a document needs, if it were not found in another way. And what no trigger can follow is
// said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/source/postgres/define/design.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTables = R"sql(
create schema s;
create table s.a (id integer primary key, x text, y text, z text);
create table s.b (id integer primary key, a_id integer references s.a, note text, extra text);
insert into s.a values (1, 'x', 'y', 'z'), (2, 'x', 'y', 'z');
insert into s.b values (10, 1, 'note', 'extra'), (20, 2, 'note', 'extra');
)sql";

class ViewReadsTest : public ::testing::Test {
 protected:
  ViewReadsTest() : defined_(kTables) {}

  // Follows s.v with both tables tracked; more SQL first.
  void follow(const std::string& sql) {
    defined_.database().execute(sql);
    defined_.add_index("s.v", {track_by_column("s.a", "_a"), track("s.b")});
    defined_.apply();
  }
  Lines by(const std::string& sql) { return defined_.captured_by(sql); }

  std::vector<std::string> warnings() {
    PostgresSession session(defined_.config().source, "test");
    PostgresTransaction transaction(session, "designing");
    std::vector<std::string> lines;
    for (const Finding& finding :
         design_pipeline(transaction, defined_.config(), defined_.config().indices).findings) {
      lines.push_back(to_line(finding));
    }
    return lines;
  }

  DefinedDatabase defined_;
  const Lines kA1 = {"s.a (id): 1"};
  const Lines kNothing = {};
};

TEST_F(ViewReadsTest, UpdateOfAColumnThatTheViewReadsIsCaptured) {
  follow("create view s.v as select b.id as _id, b.a_id as _a, a.x from s.b join s.a on a.id = b.a_id");
  EXPECT_EQ(by("update s.a set x = 'new' where id = 1"), kA1);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ViewReadsTest, UpdateOfAnyOtherColumnIsNot) {
  follow("create view s.v as select b.id as _id, b.a_id as _a, a.x from s.b join s.a on a.id = b.a_id");
  EXPECT_EQ(by("update s.a set y = 'new', z = 'new'; update s.b set note = 'new'"), kNothing);
}

TEST_F(ViewReadsTest, ColumnsOfAConditionCount) {
  follow(
      "create view s.v as select b.id as _id, b.a_id as _a from s.b join s.a on a.id = b.a_id where a.y = "
      "'y' "
      "and exists (select from s.a as other where other.z = b.note)");
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set x = 'new' where id = 1"), kNothing);
}

TEST_F(ViewReadsTest, ColumnsThatJoinUsingAndStarsNameCount) {
  follow(
      "create view s.v as select p.id as _id, p.id as _a, p.note, q.* from s.b as p join s.a as q0 using "
      "(id) "
      "cross join lateral (select q0.x as q_x, q0.y as q_y) as q");
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set id = 3 where id = 2 and false; update s.a set z = 'new'"), kNothing);
}

TEST_F(ViewReadsTest, NestedViewsAreFollowed) {
  follow(
      "create view s.inner as select id, x from s.a; create view s.middle as select id, x from s.inner; "
      "create view s.v as select b.id as _id, b.a_id as _a, m.x from s.b join s.middle as m on m.id = "
      "b.a_id");
  EXPECT_EQ(by("update s.a set x = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kNothing);
}

TEST_F(ViewReadsTest, WholeRowBesideANamedColumnIsNotHidden) {
  follow(
      "create view s.v as select b.id as _id, b.a_id as _a, row_to_json(a) as a from s.b join s.a on a.id = "
      "b.a_id");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.b set extra = 'new'"), kNothing) << "only the whole row of s.a is taken";
}

TEST_F(ViewReadsTest, WholeRowInsideOfASubselectIsNotHidden) {
  follow(
      "create view s.v as select b.id as _id, b.a_id as _a, "
      "(select jsonb_agg(to_jsonb(a) order by a.id) from s.a where a.id = b.a_id) as list from s.b");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
}

TEST_F(ViewReadsTest, WholeRowFromAnOuterQueryIsNotHidden) {
  follow(
      "create view s.v as select b.id as _id, b.a_id as _a, (select to_jsonb(a)) as whole from s.b join s.a "
      "on a.id = b.a_id");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
}

TEST_F(ViewReadsTest, WholeRowOfAJoinIsNotHidden) {
  follow(
      "create view s.v as select j._id, j._a, to_jsonb(j) as whole from "
      "(s.b join s.a on a.id = b.a_id) as j (_id, _a, note, extra, a_id, x, y, z)");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
}

TEST_F(ViewReadsTest, WholeRowOfANestedViewIsNotHidden) {
  follow(
      "create view s.inner as select id, x, y from s.a; "
      "create view s.v as select b.id as _id, b.a_id as _a, to_jsonb(i) as whole from s.b join s.inner as i "
      "on i.id = b.a_id");
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kA1);
}

TEST_F(ViewReadsTest, WholeRowOfASubselectCountsItsColumnsOnly) {
  follow(
      "create view s.v as select b.id as _id, b.a_id as _a, "
      "(select row_to_json(f) from (select a.x, a.y) as f) as json from s.b join s.a on a.id = b.a_id");
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kNothing);
}

TEST_F(ViewReadsTest, WholeRowPassedToAFunctionIsNotHidden) {
  follow(
      "create function s.label(row_ s.a) returns text language sql immutable begin atomic select (row_).z; "
      "end; "
      "create view s.v as select b.id as _id, b.a_id as _a, s.label(a) from s.b join s.a on a.id = b.a_id");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
}

TEST_F(ViewReadsTest, TextThatLooksLikeAWholeRowIsNone) {
  follow(
      "create view s.v as select b.id as _id, b.a_id as _a, a.x, '{VAR :varno 1 :varattno 0 }' as "
      "\":varattno 0 \" "
      "from s.b join s.a on a.id = b.a_id");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kNothing);
}

TEST_F(ViewReadsTest, FunctionThatTheDatabaseCannotSeeIntoLeavesNoUpdateOut) {
  follow(
      "create function s.z(i integer) returns text language sql stable as 'select z from s.a where id = i'; "
      "create view s.v as select b.id as _id, b.a_id as _a, s.z(b.a_id) from s.b");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set x = x where id = 1"), kA1);
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("cannot see into"), HasSubstr("s.z(integer)"))));
}

// Forty documents of 4 MB were rendered 820 times, and nobody said why.
TEST_F(ViewReadsTest, AVolatileFunctionThatMakesEachPageRenderAllDocumentsIsNamed) {
  follow(
      "create function s.contents(i integer) returns text language plpgsql as $$ begin return i; end $$; "
      "create view s.v as select b.id as _id, b.a_id as _a, s.contents(b.a_id) from s.b");
  EXPECT_THAT(warnings(),
              Contains(AllOf(HasSubstr("declared volatile: s.contents(integer)"), HasSubstr("stable"))));
}

TEST_F(ViewReadsTest, ImmutableSqlFunctionThatReadsNoTableLeavesTheColumnFilterOn) {
  follow(
      "create function s.tidy(t text) returns text language sql immutable as 'select regexp_replace($1, "
      "''x'', ''y'')'; "
      "create function s.year(t text) returns text language sql immutable as "
      "'select case when t is distinct from null then s.tidy(substring(t from 1 for 4)) end -- from s.a'; "
      "create view s.v as select b.id as _id, b.a_id as _a, s.year(a.x) as x from s.b join s.a on a.id = "
      "b.a_id");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kNothing);
  EXPECT_EQ(by("update s.a set x = 'new' where id = 1"), kA1);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ViewReadsTest, ImmutableSqlFunctionThatReadsATableAllTheSameLeavesNoUpdateOut) {
  follow(
      "create function s.z(i integer) returns text language sql immutable as 'select z from s.a where id = "
      "i'; "
      "create function s.outer_z(i integer) returns text language sql immutable as 'select s.z(i)'; "
      "create view s.v as select b.id as _id, b.a_id as _a, s.outer_z(b.a_id) from s.b");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("cannot see into"), HasSubstr("s.outer_z(integer)"))));
}

TEST_F(ViewReadsTest, FunctionBehindAnOperatorIsFound) {
  follow(
      "create function s.weigh(i integer, j integer) returns text language plpgsql stable as "
      "$$ begin return (select z from s.a where id = i); end $$; "
      "create operator s.@@@ (leftarg = integer, rightarg = integer, function = s.weigh); "
      "create view s.v as select b.id as _id, b.a_id as _a, b.a_id operator(s.@@@) 1 as weight from s.b");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
  EXPECT_THAT(warnings(), Contains(HasSubstr("s.weigh(integer,integer)")));
}

TEST_F(ViewReadsTest, FunctionBehindAnAggregateIsFound) {
  follow(
      "create function s.step(state text, i integer) returns text language plpgsql stable as "
      "$$ begin return (select z from s.a where id = i); end $$; "
      "create aggregate s.last_z (integer) (sfunc = s.step, stype = text); "
      "create view s.v as select b.id as _id, b.a_id as _a, s.last_z(b.a_id) from s.b group by b.id");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
  EXPECT_THAT(warnings(), Contains(HasSubstr("s.step(text,integer)")));
}

TEST_F(ViewReadsTest, FunctionBehindACastIsFound) {
  follow(
      "create type s.label as (text text); "
      "create function s.to_label(i integer) returns s.label language plpgsql stable as "
      "$$ begin return row((select z from s.a where id = i)); end $$; "
      "create cast (integer as s.label) with function s.to_label(integer); "
      "create view s.v as select b.id as _id, b.a_id as _a, (b.a_id::s.label)::text as label from s.b");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
  EXPECT_THAT(warnings(), Contains(HasSubstr("s.to_label(integer)")));
}

TEST_F(ViewReadsTest, FunctionInTheFromClauseIsFound) {
  follow(
      "create function s.all_z() returns setof text language sql stable as 'select z from s.a'; "
      "create view s.v as select b.id as _id, b.a_id as _a, (select string_agg(f, ',') from s.all_z() as f) "
      "as list "
      "from s.b");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
}

TEST_F(ViewReadsTest, FunctionWithAnSqlBodyIsFollowed) {
  follow(
      "create function s.z(i integer) returns text language sql stable begin atomic select z from s.a where "
      "id = i; "
      "end; "
      "create function s.outer_z(i integer) returns text language sql stable return s.z(i); "
      "create view s.v as select b.id as _id, b.a_id as _a, s.outer_z(b.a_id) from s.b");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kNothing);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ViewReadsTest, WholeRowInAFunctionWithAnSqlBodyIsNotHidden) {
  follow(
      "create function s.whole(i integer) returns json language sql stable "
      "begin atomic select row_to_json(a) from s.a where a.id = i; end; "
      "create view s.v as select b.id as _id, b.a_id as _a, s.whole(b.a_id) from s.b");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kA1);
}

TEST_F(ViewReadsTest, TableThatOnlyAFunctionReadsMustBeTracked) {
  defined_.database().execute(
      "create function s.z(i integer) returns text language sql stable begin atomic select z from s.a where "
      "id = i; end; "
      "create view s.v as select b.id as _id, b.a_id as _a, s.z(b.a_id) from s.b");
  defined_.add_index("s.v", {track("s.b")});
  EXPECT_THAT(defined_.faults(), HasSubstr("test.toml:10: view s.v reads table s.a, which no track covers"));
}

TEST_F(ViewReadsTest, CodeOfAnExtensionThatIsImmutableIsTrusted) {
  follow(
      "create extension citext; alter table s.a alter x type public.citext; "
      "create view s.v as select b.id as _id, b.a_id as _a, a.x from s.b join s.a on a.id = b.a_id and "
      "a.x operator(public.=) 'x'::public.citext");
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kNothing);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ViewReadsTest, SystemColumnsChangeWithEveryUpdate) {
  follow(
      "create view s.v as select b.id as _id, b.a_id as _a, a.xmin::text as version from s.b join s.a "
      "on a.id = b.a_id");
  EXPECT_EQ(by("update s.a set z = z where id = 1"), kA1);
}

TEST_F(ViewReadsTest, StoredGeneratedColumnChangesWithItsSources) {
  follow(
      "alter table s.a add g text generated always as (upper(y)) stored; "
      "create view s.v as select b.id as _id, b.a_id as _a, a.g from s.b join s.a on a.id = b.a_id");
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kNothing);
}

TEST_F(ViewReadsTest, DroppedColumnsAreNoTrouble) {
  follow(
      "alter table s.a drop column x; alter table s.a add w text; "
      "create view s.v as select b.id as _id, b.a_id as _a, to_jsonb(a) as a from s.b join s.a on a.id = "
      "b.a_id");
  EXPECT_EQ(by("update s.a set w = 'new' where id = 1"), kA1);
}

TEST_F(ViewReadsTest, UnionsAndRecursionAreReadCompletely) {
  follow(
      "create view s.v as with recursive r (id, depth) as (select id, 1 from s.b union all "
      "select r.id, depth + 1 from r join s.a on a.z = 'deep' where depth < 3) "
      "select b.id as _id, b.a_id as _a, (select max(depth) from r where r.id = b.id) as depth, null as y "
      "from s.b "
      "union all select -a.id, a.id, null, a.y from s.a");
  EXPECT_EQ(by("update s.a set z = 'deep' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set x = 'new' where id = 1"), kNothing);
}

TEST_F(ViewReadsTest, ColumnsOfAllIndicesTogetherCount) {
  defined_.database().execute(
      "create view s.v as select b.id as _id, b.a_id as _a, a.x from s.b join s.a on a.id = b.a_id; "
      "create view s.w as select b.id as _id, b.a_id as _a, a.y from s.b join s.a on a.id = b.a_id");
  defined_.add_index("s.v", {track_by_column("s.a", "_a"), track("s.b")});
  defined_.add_index("s.w", {track_by_column("s.a", "_a"), track("s.b")});
  defined_.apply();
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kA1);
  EXPECT_EQ(by("update s.a set z = 'new' where id = 1"), kNothing);
  EXPECT_EQ(defined_.database().number("select count(*) from lockstep.capture"), 2) << "captured once";
}

TEST_F(ViewReadsTest, PartsOfSecurityBarrierViewsAreFollowed) {
  follow(
      "create view s.barrier with (security_barrier) as select id, x from s.a where y = 'y'; "
      "create view s.v with (security_barrier) as select b.id as _id, b.a_id as _a, i.x from s.b join "
      "s.barrier as i "
      "on i.id = b.a_id");
  EXPECT_EQ(by("update s.a set y = 'new' where id = 1"), kA1);
}

// --- what no trigger can follow ---

TEST_F(ViewReadsTest, TimeAndChanceAreNamed) {
  follow(
      "create view s.v as select b.id as _id, b.a_id as _a, now() - '1 day'::interval as yesterday, "
      "current_date as d, "
      "random() as r, to_char(1, '9') as c, json_build_object('a', a.x) as o, age('2000-01-01'::timestamp) "
      "as age "
      "from s.b join s.a tablesample system (50) on a.id = b.a_id");
  const std::vector<std::string> lines = warnings();
  ASSERT_EQ(lines.size(), 1u) << ::testing::PrintToString(lines);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("now()"), HasSubstr("current_date"), HasSubstr("random()"),
                              HasSubstr("tablesample"), HasSubstr("age(timestamp")));
  EXPECT_THAT(lines[0], Not(AnyOf(HasSubstr("to_char"), HasSubstr("json_build_object"))));
}

TEST_F(ViewReadsTest, MaterializedViewsForeignTablesAndCatalogsAreNamed) {
  follow(
      "create materialized view s.m as select id, x from s.a; "
      "create extension postgres_fdw; create server far foreign data wrapper postgres_fdw; "
      "create foreign table s.f (id integer, t text) server far; create sequence s.q; "
      "create view s.v as select b.id as _id, b.a_id as _a, m.x, f.t, c.relname, q.last_value from s.b "
      "join s.a on a.id = b.a_id left join s.m on m.id = b.a_id left join s.f on f.id = b.a_id "
      "left join pg_class as c on c.oid = b.id::oid cross join s.q");
  const std::vector<std::string> lines = warnings();
  EXPECT_THAT(lines, Contains(HasSubstr("materialized view s.m")));
  EXPECT_THAT(lines, Contains(HasSubstr("foreign table s.f")));
  EXPECT_THAT(lines, Contains(HasSubstr("pg_class")));
  EXPECT_THAT(lines, Contains(HasSubstr("sequence s.q")));
}

TEST_F(ViewReadsTest, RowSecurityIsNamed) {
  const std::string owner = defined_.database().create_role("owner");
  follow(
      "alter table s.a enable row level security; alter table s.a force row level security; "
      "create policy p on s.a using (x <> 'secret'); "
      "create view s.v as select b.id as _id, b.a_id as _a, a.x from s.b join s.a on a.id = b.a_id");
  // A superuser does not apply for it.
  defined_.database().execute("grant usage on schema s to " + owner + "; grant select on s.a, s.b to " +
                              owner + "; alter view s.v owner to " + owner);
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("policies"), HasSubstr("s.a"))));
}

TEST_F(ViewReadsTest, RowSecurityThatTheViewsOwnerPassesIsNot) {
  follow(
      "alter table s.a enable row level security; create policy p on s.a using (x <> 'secret'); "
      "create view s.v as select b.id as _id, b.a_id as _a, a.x from s.b join s.a on a.id = b.a_id");
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ViewReadsTest, TrackedTableThatTheViewDoesNotReadIsNamed) {
  defined_.database().execute("create view s.v as select b.id as _id, b.a_id as _a from s.b");
  defined_.add_index("s.v", {track_by_column("s.a", "_a"), track("s.b")});
  defined_.apply();
  EXPECT_EQ(by("update s.a set z = z where id = 1"), kA1);
  EXPECT_THAT(warnings(), Contains(HasSubstr("does not read table s.a")));
}

}  // namespace
}  // namespace lockstep
