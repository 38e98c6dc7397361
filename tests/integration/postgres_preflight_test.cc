// What `check` says of a source: faults with their place and remedy, and nothing about a sound one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "replicator/error.h"
#include "replicator/source/postgres/define/preflight.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr const char* kBlog = R"sql(
create schema s;
create table s.users (id integer primary key, name text);
create table s.posts (id integer primary key, user_id integer, title text);
create index on s.posts (user_id);
create view s.v as select p.id as _id, p.user_id as _user_id, p.title, u.name from s.posts as p left join s.users as u
  on u.id = p.user_id;
insert into s.users select i, 'u' from generate_series(1, 100) as i;
insert into s.posts select i, i % 100 + 1, 't' from generate_series(1, 1000) as i;
)sql";

// The statements below the one error for the role.
std::vector<std::string> grants_of(const std::vector<std::string>& findings) {
  std::vector<std::string> grants;
  for (const std::string& finding : findings) {
    std::istringstream lines(finding);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("grant ")) grants.push_back(line);
    }
  }
  return grants;
}

class PreflightTest : public ::testing::Test {
 protected:
  PreflightTest() : defined_(kBlog) {}

  void follow() { defined_.add_index("s.v", {track("s.posts"), track_by_column("s.users", "_user_id")}); }

  std::vector<std::string> check(const std::string& role = {}) {
    SourceConfig source = defined_.config().source;
    if (!role.empty()) source.url = defined_.database().url_as(role);
    PostgresSession session(source, "test");
    std::vector<std::string> lines;
    for (const Finding& finding : check_postgres(session, defined_.config())) {
      lines.push_back((finding.severity == Finding::Severity::kError ? "error: " : "warning: ") +
                      to_line(finding));
    }
    return lines;
  }
  void execute(const std::string& sql) { defined_.database().execute(sql); }

  DefinedDatabase defined_;
};

TEST_F(PreflightTest, SoundSourceHasNoFindingsBeforeAndAfterApply) {
  follow();
  EXPECT_THAT(check(), IsEmpty());
  EXPECT_EQ(defined_.database().number("select count(*) from pg_namespace where nspname = 'lockstep'"), 0);
  defined_.apply();
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(PreflightTest, FaultsOfTheConfigurationAreFindings) {
  defined_.add_index("s.v", {track("s.posts")});
  EXPECT_THAT(check(), Contains(AllOf(HasSubstr("error: test.toml:10: "), HasSubstr("s.users"),
                                      HasSubstr("ignore = true"))));
}

TEST_F(PreflightTest, IdThatIsNotUniqueIsFoundInTheWholeView) {
  execute("create view s.w as select id as _id, title from s.posts union all select 5, 'again'");
  defined_.add_index("s.w", {track("s.posts")});
  EXPECT_THAT(check(),
              Contains(HasSubstr("error: test.toml:10: _id of view s.w is not unique: several rows have 5")));
}

TEST_F(PreflightTest, IdThatIsNullOrTooLongIsFound) {
  execute(
      "create view s.w as select case when id = 1 then null when id = 2 then repeat('x', 513) else id::text "
      "end as _id "
      "from s.posts");
  TrackConfig track_ = track("s.posts");
  defined_.add_index("s.w", {track_});
  EXPECT_THAT(check(), IsSupersetOf({HasSubstr("1 of 1000 rows of view s.w have no _id"),
                                     HasSubstr("_id of 513 bytes")}));
}

TEST_F(PreflightTest, ViewThatFailsIsFound) {
  execute("create view s.w as select id as _id, 1 / (id - id) as x from s.posts");
  defined_.add_index("s.w", {track("s.posts")});
  execute("create or replace view s.w as select (1 / (id - id) + id) as _id, 1 as x from s.posts");
  EXPECT_THAT(check(), Contains(HasSubstr("division by zero")));
}

TEST_F(PreflightTest, ValuesThatAreNeverIdsAreFound) {
  execute("create view s.w as select 'post-' || id as _id, title from s.posts");
  defined_.add_index("s.w", {track("s.posts")});
  EXPECT_THAT(check(), Contains(AllOf(HasSubstr("warning: test.toml:11: none of 100 rows of s.posts"),
                                      HasSubstr("s.w"))));
  defined_.config().indices[0].tracks[0].row = "'post-' || id";
  EXPECT_THAT(check(), IsEmpty());
}

// `check` warned of what `init` had written for such a view.
TEST_F(PreflightTest, AViewThatKeepsFewRowsOfItsTableHasTheirIdsAllTheSame) {
  for (const std::string& rows :
       {"order by id desc limit 10", "order by id offset 990", "where id > 990", "where id = 1000"}) {
    execute("drop view if exists s.w; create view s.w as select id as _id, title from s.posts " + rows);
    defined_.config().indices.clear();
    defined_.add_index("s.w", {track("s.posts")});
    EXPECT_THAT(check(), Not(Contains(HasSubstr("has a value that is an _id")))) << rows;
  }
  execute("drop view s.w; create view s.w as select 'p' || id as _id from s.posts order by id desc limit 10");
  EXPECT_THAT(check(), Contains(HasSubstr("none of 100 rows of s.posts has a value that is an _id")));
}

TEST_F(PreflightTest, SearchWithoutAnIndexIsFound) {
  follow();
  execute(
      "drop index s.posts_user_id_idx; insert into s.posts select i, 1, repeat('t', 100) from "
      "generate_series(1001, 20000) as i");
  EXPECT_THAT(check(),
              Contains(AllOf(HasSubstr("warning: test.toml:12: "), HasSubstr("reads the whole of s.posts"))));
  execute("create index on s.posts (user_id)");
  EXPECT_THAT(check(), IsEmpty());
  execute("create view s.w as select id::text as _id, title from s.posts");
  defined_.config().indices.clear();
  defined_.add_index("s.w", {track("s.posts")});
  EXPECT_THAT(check(),
              Contains(HasSubstr("rendering documents of view s.w by their _id reads the whole of s.posts")));
}

// Only what somebody asks for is in a plan.
TEST_F(PreflightTest, SubqueryWithoutAnIndexIsFoundWithTheStatementThatMendsIt) {
  execute(
      "create table s.notes (id integer primary key, post_id integer, note text); "
      "insert into s.notes select i, i % 1000, repeat('n', 100) from generate_series(1, 20000) as i; "
      "create view s.w as select p.id as _id, p.title, (select jsonb_agg(n.note order by n.note) from "
      "s.notes as n where "
      "n.post_id = p.id) as notes from s.posts as p");
  defined_.add_index("s.w", {track("s.posts"), track_by_row("s.notes", "post_id")});
  EXPECT_THAT(check(),
              Contains(AllOf(HasSubstr("warning: test.toml:10: "), HasSubstr("reads the whole of s.notes"),
                             HasSubstr("; create index on s.notes (post_id)"))));
  execute("create index on s.notes (post_id)");
  EXPECT_THAT(check(), IsEmpty());
}

// It named the column of the join, of which an index changes nothing.
TEST_F(PreflightTest, AnIdOfSeveralColumnsBelowAUnionIsFoundWithTheIndexOfItsExpression) {
  execute(
      "create table s.notes (a integer, b integer, post_id integer, note text); "
      "insert into s.notes select i, i, i % 1000, repeat('n', 100) from generate_series(1, 20000) as i; "
      "create view s.w as select n.a::text || ':' || n.b::text as _id, p.title from s.notes as n "
      "join s.posts as p on p.id = n.post_id union all select 'post-' || id::text, title from s.posts");
  defined_.add_index("s.w", {track_by_row("s.notes", "a::text || ':' || b::text"),
                             track_by_row("s.posts", "'post-' || id::text")});
  EXPECT_THAT(check(),
              Contains(HasSubstr("create index on s.notes ((((a)::text || ':'::text) || (b)::text))")));
  execute("create index on s.notes ((((a)::text || ':'::text) || (b)::text))");
  EXPECT_THAT(check(), Not(Contains(HasSubstr("create index on s.notes"))));
}

// `check` said "no errors", and a deleted row's document stayed for good.
TEST_F(PreflightTest, KeysThatLookForAChangedRowInItsOwnTableAreFound) {
  execute("create view s.w as select 'p' || id as _id, title from s.posts");
  TrackConfig keys = track("s.posts");
  keys.keys = "select 'p' || id from s.posts where id = any($1)";
  defined_.add_index("s.w", {keys});
  EXPECT_THAT(check(), Contains(HasSubstr("where a deleted one is not found, so its documents stay")));
}

// The statement kept the alias, and one for columns of two tables is none.
TEST_F(PreflightTest, TheIndexOfAnExpressionHasNoAliasAndIsOfOneTable) {
  execute(
      "create table s.notes (a integer, b text, post_id integer); "
      "insert into s.notes select i, repeat('n', 100), i % 1000 from generate_series(1, 20000) as i; "
      "create view s.w as select 'n' || \"A\".a::text as _id from s.notes as \"A\" union all "
      "select 'm' || \"A\".a::text from s.notes as \"A\"; "
      "create view s.x as select n.a::text || p.title as _id from s.notes as n join s.posts as p on p.id = "
      "n.post_id");
  defined_.add_index("s.w", {track_by_row("s.notes", "'n' || a::text")});
  EXPECT_THAT(check(), Contains(HasSubstr("create index on s.notes (('n'::text || (a)::text)), which")));
  defined_.config().indices.clear();
  defined_.add_index("s.x", {track_by_row("s.notes", "b"), track_by_row("s.posts", "title")});
  EXPECT_THAT(check(), Contains(HasSubstr("no index can serve ((a)::text || p.title)")));
}

TEST_F(PreflightTest, SubqueryByALaterColumnOfAnIndexIsFound) {
  execute(
      "create table s.notes (id integer primary key, post_id integer, note text); "
      "insert into s.notes select i, i % 1000, repeat('n', 100) from generate_series(1, 20000) as i; "
      "create unique index on s.notes (note, id, post_id); "
      "create view s.w as select p.id as _id, p.title, (select jsonb_agg(n.id order by n.id) from s.notes as "
      "n where "
      "n.post_id = p.id) as notes from s.posts as p; analyze s.notes");
  defined_.add_index("s.w", {track("s.posts"), track_by_row("s.notes", "post_id")});
  EXPECT_THAT(check(), Contains(HasSubstr("; create index on s.notes (post_id)")));
  execute("create index on s.notes (post_id, note)");
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(PreflightTest, SubqueryOverManySmallPartitionsIsFoundOnce) {
  execute(
      "create table s.notes (id integer, day integer, post_id integer, note text, primary key (id, day)) "
      "partition by list (day); "
      "do $$ begin for i in 0 .. 9 loop execute format('create table s.notes_%s partition of s.notes for "
      "values "
      "in (%s)', i, i); end loop; end $$; "
      "insert into s.notes select i, i % 10, i % 1000, repeat('n', 100) from generate_series(1, 20000) as i; "
      "create view s.w as select p.id as _id, p.title, (select jsonb_agg(n.note order by n.note) from "
      "s.notes as n where "
      "n.post_id = p.id) as notes from s.posts as p; analyze s.notes");
  defined_.add_index("s.w", {track("s.posts"), track_by_row("s.notes", "post_id")});
  const std::vector<std::string> lines = check();
  EXPECT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines, Contains(HasSubstr("; create index on s.notes (post_id)")));
}

TEST_F(PreflightTest, TableThatIsReadAlongTwoPathsOfWhichOneIsTrackedIsFound) {
  execute(
      "create table s.languages (id integer primary key, name text); "
      "create table s.films (id integer primary key, language_id integer, original_id integer); "
      "create view s.w as select f.id as _id, f.language_id as _language, f.original_id as _original, "
      "l.name, "
      "o.name as original from s.films as f left join s.languages as l on l.id = f.language_id "
      "left join s.languages as o on o.id = f.original_id");
  IndexConfig& index =
      defined_.add_index("s.w", {track("s.films"), track_by_column("s.languages", "_language")});
  EXPECT_THAT(check(), Contains(AllOf(HasSubstr("warning: test.toml:12: "),
                                      HasSubstr("s.films.language_id and s.films.original_id"))));
  index.tracks.push_back(track_by_column("s.languages", "_original"));
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(PreflightTest, OnePathThatIsReadTwiceIsNoFault) {
  follow();
  execute(
      "create or replace view s.v as select p.id as _id, p.user_id as _user_id, p.title, u.name from s.posts "
      "as p "
      "left join s.users as u on u.id = p.user_id where exists (select from s.users as x where x.id = "
      "p.user_id)");
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(PreflightTest, RowThatGivesTheIdsOfAnotherTableIsFound) {
  execute(
      "create table s.comments (id integer primary key, post_id integer references s.posts, user_id integer "
      "references s.users); insert into s.comments select i, i, i from generate_series(1, 100) as i; "
      "create view s.w as select p.id as _id, (select count(*) from s.comments as c where c.post_id = p.id) "
      "as n "
      "from s.posts as p");
  IndexConfig& index = defined_.add_index("s.w", {track("s.posts"), track_by_row("s.comments", "user_id")});
  EXPECT_THAT(check(),
              Contains(AllOf(HasSubstr("warning: test.toml:12: "),
                             HasSubstr("user_id of s.comments refers to s.users, and _id of view s.w is "
                                       "the id of s.posts"))));
  index.tracks[1].row = "post_id";
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(PreflightTest, SlowViewIsLeftAloneAfterAWhile) {
  execute(
      "create function s.slow(i integer) returns integer language plpgsql stable as "
      "$$ begin perform pg_sleep(0.2); return i; end $$; create view s.w as select s.slow(id) as _id from "
      "s.posts");
  defined_.add_index("s.w", {track("s.posts")});
  EXPECT_THAT(check(), Contains(HasSubstr("took longer than 5s, so it was not checked")));
}

TEST_F(PreflightTest, UnloggedAndRowSecuredTablesAreNamed) {
  follow();
  execute("alter table s.users set unlogged");
  EXPECT_THAT(check(), Contains(AllOf(HasSubstr("warning: table s.users: "), HasSubstr("set logged"))));
}

TEST_F(PreflightTest, DisabledAndMissingTriggersAreFound) {
  follow();
  defined_.apply();
  execute("alter table s.users disable trigger all");
  EXPECT_THAT(check(), Contains(AllOf(HasSubstr("error: table s.users: "), HasSubstr("lockstep apply"))));
  defined_.apply();
  EXPECT_THAT(check(), IsEmpty());
  execute("drop trigger lockstep_1_delete on s.posts");
  EXPECT_THAT(check(), Contains(HasSubstr("error: table s.posts: triggers are missing or disabled")));
}

TEST_F(PreflightTest, PartitionWithoutTriggersIsFound) {
  execute(
      "create table s.p (id integer primary key) partition by range (id); "
      "create table s.p1 partition of s.p for values from (0) to (10); create view s.w as select id as _id "
      "from s.p");
  defined_.add_index("s.w", {track("s.p")});
  defined_.apply();
  EXPECT_THAT(check(), IsEmpty());
  execute("create table s.p2 partition of s.p for values from (10) to (20)");
  EXPECT_THAT(check(),
              Contains(HasSubstr("warning: table s.p2: it is a new part of s.p, and has no triggers")));
  execute("drop trigger lockstep_1_delete on s.p1");
  EXPECT_THAT(check(), Contains(HasSubstr("error: part of s.p: table s.p1: triggers are missing")));
}

TEST_F(PreflightTest, NewerSchemaIsRefusedByAllThatReadsIt) {
  follow();
  defined_.apply();
  execute(
      "insert into lockstep.migration (number, name, checksum, applied_by) values (99, '0099_future', 'x', "
      "'9.9')");
  const auto is_refusal =
      AllOf(HasSubstr("migrated by a newer lockstep"), HasSubstr("99"), HasSubstr("install"));
  EXPECT_THAT(check(), Contains(is_refusal));
  EXPECT_THAT(defined_.faults(), is_refusal);
  EXPECT_THROW(defined_.apply(), UsageError);
}

TEST_F(PreflightTest, SchemaOfAnOlderLockstepIsNamedAndNoErrorOfTheServer) {
  follow();
  defined_.apply();
  execute(
      "drop table lockstep.part; delete from lockstep.migration where number = (select max(number) from "
      "lockstep.migration)");
  EXPECT_THAT(check(), ElementsAre(AllOf(HasSubstr("warning: source.schema: an older lockstep has made it"),
                                         HasSubstr("lockstep apply"))));
}

TEST_F(PreflightTest, EditedMigrationIsRefused) {
  follow();
  defined_.apply();
  execute("update lockstep.migration set checksum = 'edited'");
  EXPECT_THAT(defined_.faults(), AllOf(HasSubstr("0001_schema"), HasSubstr("must not be changed")));
}

// --- rights ---

TEST_F(PreflightTest, RoleThatMayDoNothingIsToldEachGrant) {
  follow();
  const std::string role = defined_.database().create_role("stranger");
  const std::vector<std::string> before = check(role);
  EXPECT_THAT(before,
              Contains(AllOf(HasSubstr("error: role " + role), HasSubstr("grant create on database"))));
  EXPECT_THAT(before,
              Contains(AllOf(HasSubstr("does not own table s.users"),
                             HasSubstr("run apply as its owner: lockstep apply"),
                             HasSubstr(" --as postgresql://postgres@"), Not(HasSubstr("or grant ")))));
  defined_.apply();
  const std::vector<std::string> findings = check(role);
  EXPECT_THAT(
      findings,
      Contains(HasSubstr("error: role " + role + ": it lacks rights that `lockstep run` needs")).Times(1));
  const std::vector<std::string> lines = grants_of(findings);
  EXPECT_THAT(lines,
              IsSupersetOf({HasSubstr("grant usage on schema s to "), HasSubstr("grant select on s.v to "),
                            HasSubstr("grant select, update on lockstep.checkpoint to "),
                            HasSubstr("grant execute on function lockstep.resolve_")}));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("own"))));
  for (const std::string& line : lines) execute(line);
  EXPECT_THAT(check(role), IsEmpty());
}

TEST_F(PreflightTest, OwnerOfTheTablesNeedsNoMore) {
  follow();
  const std::string role = defined_.database().create_role("owner");
  execute("alter schema s owner to " + role + "; alter table s.users owner to " + role +
          "; alter table s.posts owner to " + role + "; alter view s.v owner to " + role +
          "; grant create on database " + defined_.database().name() + " to " + role);
  EXPECT_THAT(check(role), IsEmpty());
  defined_.apply(role);
  EXPECT_THAT(check(role), IsEmpty());
}

TEST_F(PreflightTest, AMembershipIsAdvisedOnlyInARoleThatOwnsAndHasNothingElse) {
  follow();
  const std::string owner = defined_.database().create_role("owner");
  const std::string role = defined_.database().create_role("stranger");
  execute("alter table s.users owner to " + owner + "; alter table s.posts owner to " + owner);
  EXPECT_THAT(check(role), Contains(HasSubstr("; or grant \"" + owner + "\" to \"" + role + "\"")));
  for (const char* const right : {"createrole", "replication", "bypassrls"}) {
    execute("alter role " + owner + " " + right);
    EXPECT_THAT(check(role), Not(Contains(HasSubstr("or grant \"" + owner)))) << right;
    execute("alter role " + owner + " no" + right);
  }
}

TEST_F(PreflightTest, OnlyAViewIsSuggestedForAMistypedView) {
  execute(
      "create schema search; create table public.bookings (id int); create table public.amenity_kinds (id "
      "int); "
      "create view search.bookings as select id as _id from public.bookings");
  defined_.add_index("search.booking", {track("s.v")});
  defined_.add_index("s.v", {track("bookings")});
  defined_.add_index("search.amenity_kinds", {track("s.v")});
  const std::vector<std::string> lines = check();
  EXPECT_THAT(lines,
              Contains(HasSubstr("there is no view \"search.booking\"; did you mean search.bookings?")));
  EXPECT_THAT(lines, Contains(testing::EndsWith("there is no view \"search.amenity_kinds\"")));
  EXPECT_THAT(lines,
              Contains(HasSubstr(
                  "there is no table \"bookings\"; write it with its schema, for example public.bookings")));
}

TEST_F(PreflightTest, SchemaOfSomebodyElseIsTold) {
  follow();
  const std::string role = defined_.database().create_role("owner");
  execute("create schema lockstep; alter schema s owner to " + role + "; alter table s.users owner to " +
          role + "; alter table s.posts owner to " + role);
  EXPECT_THAT(check(role), Contains(HasSubstr("schema lockstep belongs to ")));
}

TEST(UnreachableServerTest, IsAnErrorThatMayPass) {
  SourceConfig source;
  source.url = "postgresql://nobody@127.0.0.1:1/nothing";
  try {
    PostgresSession session(source, "test");
    FAIL() << "connected";
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
  }
}

// A function whose names are found through the application's search_path and not through ours.
TEST_F(PreflightTest, ViewThatReadsThroughASearchPathIsRefusedByPlanTooWithTheStatementThatMendsIt) {
  execute(
      "create function s.name_of(i integer) returns text language plpgsql stable as "
      "'begin return (select name from users where id = i); end'; "
      "create view s.named as select id as _id, s.name_of(user_id) as name from s.posts; "
      "alter database \"" +
      defined_.database().name() + "\" set search_path = s");
  defined_.add_index("s.named", {track("s.posts"),
                                 track_by_keys("s.users", "select id from s.posts where user_id = any($1)")});
  const std::string mends = "alter function s.name_of(integer) set search_path = s";
  EXPECT_THAT(check(), Contains(AllOf(HasSubstr("error: "), HasSubstr("relation \"users\" does not exist"),
                                      HasSubstr("empty search_path"), HasSubstr(mends))));
  EXPECT_THAT(defined_.faults(), AllOf(HasSubstr("relation \"users\" does not exist"), HasSubstr(mends)));
  execute(mends);
  EXPECT_EQ(defined_.faults(), "");
}

TEST_F(PreflightTest, DocumentsThatHaveNoIdAreRefusedByPlanToo) {
  execute("create view s.incomplete as select nullif(id, 7) as _id, title from s.posts");
  defined_.add_index("s.incomplete", {track("s.posts")});
  EXPECT_THAT(defined_.faults(), HasSubstr("have no _id"));
}

}  // namespace
}  // namespace lockstep
