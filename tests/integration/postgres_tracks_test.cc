// From changed rows to documents: what each kind of track becomes, which documents it finds, and what is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/source/postgres/define/design.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kShop = R"sql(
create schema s;
create table s.users (id bigint primary key, name text, country_id integer);
create table s.countries (id integer primary key, name text);
create table s.orders (id bigint primary key, user_id integer, note text);
create table s.items (order_id bigint, number integer, name text, primary key (order_id, number));
insert into s.countries values (1, 'x'), (2, 'y');
insert into s.users select i, 'u', i % 2 + 1 from generate_series(1, 4) as i;
insert into s.orders select i, i % 4 + 1, 'n' from generate_series(1, 8) as i;
insert into s.items select i, 1, 'i' from generate_series(1, 8) as i;
)sql";

class TracksTest : public ::testing::Test {
 protected:
  TracksTest() : defined_(kShop) {}

  // The view s.v and one track; all other tables ignored.
  void follow(const std::string& view, const TrackConfig& config) {
    defined_.database().execute("create view s.v as " + view);
    std::vector<TrackConfig> tracks = {config};
    for (const char* table : {"s.users", "s.countries", "s.orders", "s.items"}) {
      if (table == config.table) continue;
      tracks.push_back(track(table));
      tracks.back().ignore = true;
    }
    defined_.add_index("s.v", tracks);
  }

  // The ids that the track's resolver gives for values.
  std::string ids_of(const std::string& values) {
    defined_.apply();
    const std::string resolver = *defined_.database().value("select resolver from lockstep.track");
    const std::string type = *defined_.database().value("select value_type from lockstep.capture");
    return *defined_.database().value("select coalesce(string_agg(k, ' ' order by k), '') from " + resolver +
                                      "('" + values + "'::text[]::" + type + "[]) as k");
  }
  std::optional<std::string> resolver() {
    defined_.apply();
    return defined_.database().value("select resolver from lockstep.track");
  }
  PipelineDesign design() {
    PostgresSession session(defined_.config().source, "test");
    PostgresTransaction transaction(session, "designing");
    return design_pipeline(transaction, defined_.config(), defined_.config().indices);
  }
  std::string findings() {
    std::string lines;
    for (const Finding& finding : design().findings) lines += to_line(finding) + "\n";
    return lines;
  }

  DefinedDatabase defined_;
};

// --- the values are the ids ---

TEST_F(TracksTest, PrimaryKeyIsTheId) {
  follow("select id as _id, note from s.orders", track("s.orders"));
  EXPECT_EQ(resolver(), std::nullopt);
}

TEST_F(TracksTest, ValueBeyondTheRangeOfTheIdLeadsNowhere) {
  follow("select id::integer as _id, note from s.orders", track("s.orders"));
  EXPECT_EQ(ids_of("{1,2147483647,2147483648,-2147483648,-9000000000}"), "-2147483648 1 2147483647");
}

TEST_F(TracksTest, ValueOfAnotherKindIsRefused) {
  follow("select id as _id, note from s.orders", track_by_row("s.orders", "note"));
  EXPECT_THAT(defined_.faults(),
              AllOf(HasSubstr("test.toml:11: the values are of type text, but _id of s.v is of type bigint"),
                    HasSubstr("keys = ")));
}

TEST_F(TracksTest, IdOfAnotherKindIsRefused) {
  follow("select id::numeric as _id, note from s.orders", track("s.orders"));
  EXPECT_THAT(defined_.faults(),
              AllOf(HasSubstr("_id of view s.v is of type numeric"), HasSubstr("::text as _id")));
}

TEST_F(TracksTest, IdWithALooseCollationIsRefused) {
  defined_.database().execute(
      "create collation s.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)");
  follow("select note collate s.loose as _id from s.orders", track_by_row("s.orders", "note"));
  EXPECT_THAT(defined_.faults(), HasSubstr("collation"));
}

TEST_F(TracksTest, DomainsAreWhatIsBelowThem) {
  defined_.database().execute(
      "create domain s.key as bigint; create domain s.key2 as s.key check (value > 0); "
      "alter table s.orders alter id type s.key2");
  follow("select id as _id, note from s.orders", track("s.orders"));
  EXPECT_EQ(resolver(), std::nullopt);
  EXPECT_EQ(defined_.database().value("select value_type from lockstep.capture"), "bigint");
  EXPECT_EQ(defined_.database().value("select id_type from lockstep.index"), "bigint");
}

TEST_F(TracksTest, PaddedTextsKeepTheirLength) {
  defined_.database().execute(
      "create table s.t (code char(5) primary key); create view s.w as select code::text as _id from s.t");
  defined_.add_index("s.w", {track("s.t")});
  defined_.apply();
  EXPECT_EQ(defined_.database().value("select value_type from lockstep.capture"), "bpchar");
}

// --- through a column ---

TEST_F(TracksTest, ColumnIsLookedUpInItsTableSoThatADocumentThatLeavesTheViewIsFound) {
  follow(
      "select o.id as _id, o.user_id as _user_id, u.name from s.orders as o join s.users as u on u.id = "
      "o.user_id "
      "where u.name is not null",
      track_by_column("s.users", "_user_id"));
  EXPECT_EQ(ids_of("{1,3}"), "2 4 6 8");
  defined_.database().execute(
      "update s.users set name = null where id = 1; delete from s.users where id = 3");
  EXPECT_EQ(ids_of("{1,3}"), "2 4 6 8");
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(TracksTest, ColumnOfTheJoinedTableIsTheSameWhereTheJoinSaysSo) {
  follow(
      "select o.id as _id, u.id as _user_id, u.name from s.orders as o join s.users as u on u.id = o.user_id",
      track_by_column("s.users", "_user_id"));
  defined_.database().execute("delete from s.users where id = 3");
  EXPECT_EQ(ids_of("{1,3}"), "2 4 6 8");
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(TracksTest, OuterJoinsThatAreAboutBothTablesSayTheSame) {
  follow(
      "select o.id as _id, u.id as _user_id, u.name from s.orders as o left join s.users as u on u.id = "
      "o.user_id",
      track_by_column("s.users", "_user_id"));
  EXPECT_FALSE(design().indices[0].tracks[0].through_view);
}

TEST_F(TracksTest, OuterJoinWhoseConditionIsAboutOneSideSaysNothing) {
  follow(
      "select o.id as _id, u.id as _user_id from (s.orders as o cross join s.users as u) "
      "left join s.countries as c on u.id = o.user_id",
      track_by_column("s.users", "_user_id"));
  EXPECT_TRUE(design().indices[0].tracks[0].through_view);
}

TEST_F(TracksTest, OriginIsFollowedThroughViewsSubselectsAndJoins) {
  defined_.database().execute(
      "create view s.inner as select o.id as order_id, o.user_id as owner, o.note from s.orders as o");
  follow(
      "with c as (select order_id, owner, note from s.inner) "
      "select (q.order_id)::text as _id, q.owner as _owner, u.name from (select * from c) as q join s.users "
      "as u on "
      "u.id = q.owner",
      track_by_column("s.users", "_owner"));
  defined_.database().execute("delete from s.users where id = 3");
  EXPECT_EQ(ids_of("{1,3}"), "2 4 6 8");
}

TEST_F(TracksTest, GroupedRowsHaveAnOriginToo) {
  follow(
      "select o.user_id as _id, o.user_id as _user, count(*) from s.orders as o join s.users as u on u.id = "
      "o.user_id "
      "group by o.user_id",
      track_by_column("s.users", "_user"));
  defined_.database().execute("delete from s.users where id = 3");
  EXPECT_EQ(ids_of("{1,3}"), "1 1 3 3");
}

TEST_F(TracksTest, SameTableTwiceIsNotOneRow) {
  follow("select o.id as _id, p.user_id as _user_id from s.orders as o join s.orders as p on p.note = o.note",
         track_by_column("s.users", "_user_id"));
  EXPECT_TRUE(design().indices[0].tracks[0].through_view);
}

TEST_F(TracksTest, UnionsHaveNoSingleOrigin) {
  follow("select id as _id, user_id as _user_id from s.orders union all select -id, country_id from s.users",
         track_by_column("s.users", "_user_id"));
  EXPECT_TRUE(design().indices[0].tracks[0].through_view);
  EXPECT_THAT(findings(), AllOf(HasSubstr("not found any more"), HasSubstr("keys = ")));
  EXPECT_EQ(ids_of("{1}"), "-2 -4 4 8");
}

TEST_F(TracksTest, ColumnThatIsComputedIsAskedOfTheView) {
  follow("select id as _id, user_id + 0 as _user_id from s.orders", track_by_column("s.users", "_user_id"));
  EXPECT_TRUE(design().indices[0].tracks[0].through_view);
  EXPECT_EQ(ids_of("{1}"), "4 8");
}

TEST_F(TracksTest, ColumnOfATypeOfAnExtensionIsComparedAsItCompares) {
  defined_.database().execute(
      "create extension citext; create table s.tags (name public.citext primary key, x text); "
      "alter table s.orders add tag public.citext; update s.orders set tag = 'Red' where id < 3");
  follow(
      "select o.id as _id, o.tag as _tag, t.x from s.orders as o join s.tags as t on t.name "
      "operator(public.=) o.tag",
      track_by_column("s.tags", "_tag"));
  EXPECT_EQ(ids_of("{RED}"), "1 2");
}

TEST_F(TracksTest, ColumnThatTheViewDoesNotHaveIsRefused) {
  follow("select id as _id, note from s.orders", track_by_column("s.users", "_user_id"));
  EXPECT_THAT(defined_.faults(),
              AllOf(HasSubstr("column: view s.v has no column _user_id"), HasSubstr("add it to the view")));
}

TEST_F(TracksTest, ColumnOfAnotherTypeIsRefused) {
  follow("select id as _id, note as _user_id from s.orders", track_by_column("s.users", "_user_id"));
  EXPECT_THAT(defined_.faults(),
              HasSubstr("column: _user_id of view s.v is of type text, the values are of type bigint"));
}

// --- through a query ---

TEST_F(TracksTest, KeysFindDocumentsInTheirOwnWay) {
  follow(
      "select o.id as _id, c.name from s.orders as o join s.users as u on u.id = o.user_id join s.countries "
      "as c on "
      "c.id = u.country_id",
      track_by_keys("s.countries",
                    "select o.id from s.orders as o join s.users as u on u.id = o.user_id "
                    "where u.country_id = any($1) order by o.id desc -- all of a country"));
  EXPECT_EQ(ids_of("{1}"), "1 3 5 7");
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

class KeysFaultTest : public TracksTest,
                      public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(KeysFaultTest, IsToldWithItsPlace) {
  follow("select id as _id, note from s.orders", track_by_keys("s.countries", GetParam().first));
  EXPECT_THAT(defined_.faults(), AllOf(HasSubstr("test.toml:11: keys: "), HasSubstr(GetParam().second)));
}
INSTANTIATE_TEST_SUITE_P(
    Faults, KeysFaultTest,
    ::testing::Values(
        std::pair("select id from orders where id = any($1)", "\"orders\" does not exist"),
        std::pair("select id, note from s.orders where id = any($1)", "has 2 columns"),
        std::pair("select note from s.orders where id = any($1)", "returns text"),
        std::pair("select id from s.orders where id = any($1::uuid[])", "cannot cast"),
        std::pair("delete from s.orders where id = any($1) returning id", "syntax error"),
        std::pair("select id from s.orders where id = any($2)", "$1 and no other"),
        std::pair("select 1) as q; drop table s.orders; select * from (select 1 where $1 is null",
                  "multiple commands"),
        std::pair("selekt", "syntax error"), std::pair("select id /* from s.orders", "unterminated")));

// --- row ---

TEST_F(TracksTest, RowMayBeWrittenInManyWays) {
  for (const char* row :
       {"user_id", "USER_ID", " \"user_id\" ", "orders.user_id", "(user_id)", "user_id -- the owner"}) {
    defined_.database().execute("drop view if exists s.v");
    defined_.config().indices.clear();
    follow("select id as _id, name from s.users", track_by_row("s.orders", row));
    defined_.apply();
    EXPECT_EQ(defined_.database().value("select value_type from lockstep.capture"), "integer") << row;
    defined_.captured();
    defined_.database().execute("update s.orders set user_id = user_id % 4 + 1 where id = 1");
    EXPECT_EQ(defined_.database().number("select count(*) from lockstep.outbox, unnest(keys)"), 2) << row;
  }
}

class RowFaultTest : public TracksTest,
                     public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(RowFaultTest, IsToldWithItsPlace) {
  follow("select id as _id, name from s.users", track_by_row("s.orders", GetParam().first));
  EXPECT_THAT(defined_.faults(), AllOf(HasSubstr("test.toml:11: row: "), HasSubstr(GetParam().second)));
}
INSTANTIATE_TEST_SUITE_P(Faults, RowFaultTest,
                         ::testing::Values(std::pair("owner", "\"owner\" does not exist"),
                                           std::pair("count(*)", "aggregate"),
                                           std::pair("row_number() over ()", "window"),
                                           std::pair("generate_series(1, 2)", "set-returning"),
                                           std::pair("ctid", "\"ctid\" does not exist"),
                                           std::pair("user_id; drop table s.orders", "syntax error"),
                                           std::pair("user_id + ", "syntax error"),
                                           std::pair("row(1, 2)", "record"),
                                           std::pair("nowhere(user_id)", "nowhere(integer) does not exist")));

TEST_F(TracksTest, ExpressionThatFailsOnARowOfTheTableIsRefusedBeforeAWriterMeetsIt) {
  follow("select id as _id, name from s.users", track_by_row("s.orders", "note::bigint"));
  try {
    defined_.apply();
    FAIL() << "applied";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("s.orders"), HasSubstr("invalid input syntax for type bigint")));
  }
  defined_.database().execute("update s.orders set note = 'still works'");
}

// --- tables and views ---

TEST_F(TracksTest, FaultsAreToldAllAtOnce) {
  defined_.database().execute(
      "create view s.v as select id as _id, note, user_id from s.orders; "
      "create view s.no_id as select id from s.orders; create materialized view s.m as select 1 as _id; "
      "create table s.no_key (a integer); create view s.w as select id as _id from s.orders");
  TrackConfig columns = track("s.orders");
  columns.columns = {"colour"};
  defined_.add_index("s.v", {track("orders"), track("s.ordrs"), track("s.w"), columns, track("s.no_key")});
  defined_.add_index("s.no_id", {track("s.orders")});
  defined_.add_index("s.m", {});
  defined_.add_index("s.users", {});
  defined_.add_index("s.nowhere", {});
  defined_.add_index("not a name", {});
  const std::string faults = defined_.faults();
  EXPECT_THAT(faults,
              HasSubstr("test.toml:11: there is no table \"orders\"; write it with its schema, for example "
                        "s.orders"));
  EXPECT_THAT(faults, HasSubstr("test.toml:12: there is no table \"s.ordrs\"; did you mean s.orders?"));
  EXPECT_THAT(
      faults,
      HasSubstr("test.toml:13: s.w is a view; only tables can be tracked; track the tables that it reads"));
  EXPECT_THAT(
      faults,
      HasSubstr("test.toml:14: columns: table s.orders stores no column colour; it has id, user_id, note"));
  EXPECT_THAT(faults, HasSubstr("test.toml:15: table s.no_key has no primary key; give row"));
  EXPECT_THAT(faults, HasSubstr("test.toml:20: view s.no_id has no column _id"));
  EXPECT_THAT(faults, HasSubstr("test.toml:30: s.m is a materialized view, not a view"));
  EXPECT_THAT(faults, HasSubstr("test.toml:40: s.users is a table, not a view; create a view over it"));
  EXPECT_THAT(faults, HasSubstr("test.toml:50: there is no view \"s.nowhere\""));
  EXPECT_THAT(faults, HasSubstr("test.toml:60: view not a name"));
}

TEST_F(TracksTest, TablesOfLockstepItselfCannotBeTracked) {
  follow("select id as _id, note from s.orders", track("s.orders"));
  defined_.apply();
  defined_.database().execute("create view s.letters as select id as _id from lockstep.dead_letter");
  defined_.add_index("s.letters", {track_by_row("lockstep.dead_letter", "id")});
  EXPECT_THAT(defined_.faults(), HasSubstr("lockstep.dead_letter is one of lockstep's own tables"));
}

TEST_F(TracksTest, IgnoredTableIsCoveredAndHasNoTriggers) {
  follow("select o.id as _id, u.name from s.orders as o join s.users as u on u.id = o.user_id",
         track("s.orders"));
  defined_.apply();
  EXPECT_EQ(defined_.captured_by("update s.users set name = 'new'"), Lines{});
}

TEST_F(TracksTest, HiddenColumnsAndRoutingStayOutOfTheFields) {
  follow(
      "select id as _id, user_id as _routing, 1 as _hidden, note, 'x' as \"Field, \"\"quoted\"\"\" from "
      "s.orders",
      track("s.orders"));
  defined_.apply();
  EXPECT_EQ(defined_.database().value("select fields::text from lockstep.index"),
            R"({note,"Field, \"quoted\""})");
  EXPECT_EQ(defined_.database().value("select routed::text from lockstep.index"), "true");
}

}  // namespace
}  // namespace lockstep
