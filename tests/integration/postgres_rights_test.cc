// With whose rights the code of users runs: the sentences of docs/security.md about PostgreSQL, one test
// each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replicator/source/open_source.h"
#include "replicator/source/postgres/define/preflight.h"
#include "replicator/source/source.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kSchema = R"sql(
create schema s;
create type s.kind as (name text);
create table s.parents (id integer primary key, kind s.kind);
create table s.t (id integer primary key, parent integer, x text);
create view s.v as select t.id as _id, t.parent as _parent, t.x, (p.kind).name
from s.t join s.parents as p on p.id = t.parent;
insert into s.parents values (1, row('a'));
insert into s.t values (1, 1, 'x');
)sql";

// Code of the owner's that makes a superuser of the owner when it runs with the rights of one.
std::string seizure(const std::string& owner) {
  return "create function s.seize() returns boolean language plpgsql as $$ begin if (select rolsuper from "
         "pg_roles where rolname = current_user) then alter role " +
         owner + " superuser; end if; return true; end $$;";
}

class RightsTest : public ::testing::Test {
 protected:
  RightsTest() : defined_(kSchema), owner_(database().create_role("owner")) {
    TrackConfig by_kind = track_by_row("s.parents", "kind");
    by_kind.keys =
        "select t.id from s.t as t join s.parents as p on p.id = t.parent where (p.kind).name = any(select "
        "(k).name from unnest($1) as k)";
    defined_.add_index("s.v", {track("s.t"), track_by_column("s.parents", "_parent"), by_kind});
    give_to(owner_);
  }

  support::PostgresDatabase& database() { return defined_.database(); }

  void give_to(const std::string& owner) {
    database().execute("grant create on database " + database().name() + " to " + owner +
                       "; alter schema s owner to " + owner + "; alter type s.kind owner to " + owner +
                       "; alter table s.t owner to " + owner + "; alter table s.parents owner to " + owner +
                       "; alter view s.v owner to " + owner);
  }

  // As a lockstep before this one left it when `apply` ran as a superuser.
  void apply_as_before() {
    defined_.apply(owner_);
    database().execute(R"sql(
do $$ declare each record; begin
  for each in select format('alter %s %s owner to current_user', case relkind when 'S' then 'sequence' else 'table' end, oid::regclass) as change
    from pg_class where relnamespace = 'lockstep'::regnamespace and relkind in ('r', 'p', 'S')
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'i' and relkind = 'S')
    union all
    select format('alter function %s owner to current_user', oid::regprocedure) from pg_proc where pronamespace = 'lockstep'::regnamespace
    union all
    select 'alter schema lockstep owner to current_user'
  loop execute each.change; end loop;
end $$)sql");
  }

  bool is_superuser(const std::string& role) {
    return database().number("select count(*) from pg_roles where rolsuper and rolname = '" + role + "'") ==
           1;
  }

  // What the owner, and nobody else, does: the cast is called by the trigger.
  void seize_through_a_trigger() {
    const auto owner = database().connect_as(owner_);
    support::execute(*owner,
                     seizure(owner_) +
                         "create function s.text_of(s.kind) returns text language plpgsql as $$ begin "
                         "perform s.seize(); return ($1).name; end $$; "
                         "create cast (s.kind as text) with function s.text_of(s.kind)");
    support::execute(*owner, "update s.parents set kind = row('b')");
  }

  // The resolver takes the view for the table.
  void seize_through_a_resolver() {
    support::execute(*database().connect_as(owner_),
                     seizure(owner_) +
                         "alter table s.t rename to real_t; create view s.t as select * from s.real_t where "
                         "s.seize()");
    const std::optional<std::string> resolver = database().value(
        "select resolver from lockstep.track as t join lockstep.capture as c on c.id = t.capture where "
        "c.relation = 's.parents' and c.expression = 'id' and resolver is not null");
    ASSERT_TRUE(resolver);
    database().execute("select * from " + *resolver + "('{1}')");
  }

  std::vector<std::string> warnings() {
    const std::unique_ptr<Source> source = open_source(defined_.config(), "test");
    return source->outbox().differences_from_applied();
  }

  DefinedDatabase defined_;
  std::string owner_;
};

std::string error_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST_F(RightsTest, TheOwnerOfATableBecameSuperuserThroughATrigger) {
  apply_as_before();
  seize_through_a_trigger();
  EXPECT_TRUE(is_superuser(owner_)) << "the hole that the next tests see closed";
}

TEST_F(RightsTest, TheOwnerOfATableBecameSuperuserThroughAResolver) {
  apply_as_before();
  seize_through_a_resolver();
  EXPECT_TRUE(is_superuser(owner_)) << "the hole that the next tests see closed";
}

TEST_F(RightsTest, TheOwnerOfATableGetsNoMoreRightsThroughATrigger) {
  defined_.apply(owner_);
  seize_through_a_trigger();
  EXPECT_FALSE(is_superuser(owner_));
}

TEST_F(RightsTest, TheOwnerOfATableGetsNoMoreRightsThroughAResolver) {
  defined_.apply(owner_);
  seize_through_a_resolver();
  EXPECT_FALSE(is_superuser(owner_));
}

TEST_F(RightsTest, AnInstallationOfASuperuserIsHandedOverByTheNextApply) {
  apply_as_before();
  EXPECT_THAT(defined_.planned(), Contains(HasSubstr("owner of schema lockstep")));
  defined_.apply();
  EXPECT_EQ(
      database().number("select count(*) from pg_proc where pronamespace = 'lockstep'::regnamespace and "
                        "proowner <> '" +
                        owner_ + "'::regrole"),
      0);
  EXPECT_EQ(
      database().number("select count(*) from pg_class where relnamespace = 'lockstep'::regnamespace and "
                        "relowner <> '" +
                        owner_ + "'::regrole"),
      0);
  seize_through_a_trigger();
  EXPECT_FALSE(is_superuser(owner_));
}

TEST_F(RightsTest, TheResolversOfAnInstallationThatWasHandedOverGiveNothingAway) {
  apply_as_before();
  defined_.apply();
  seize_through_a_resolver();
  EXPECT_FALSE(is_superuser(owner_));
}

TEST_F(RightsTest, AnInstallationThatWasHandedOverGoesOnWorking) {
  const std::string runner = database().create_role("run");
  defined_.apply(owner_);
  Config as_owner = defined_.config();
  as_owner.source.url = database().url_as(owner_);
  PostgresSession session(as_owner.source, "test");
  for (const std::string& grant : PostgresDefinition(session, as_owner).grants(runner)) {
    support::execute(*database().connect_as(owner_), grant);
  }
  apply_as_before();
  defined_.apply();
  EXPECT_TRUE(defined_.captured_by("update s.t set x = 'y'").contains("s.t (id): 1"));
  Config as_runner = defined_.config();
  as_runner.source.url = database().url_as(runner);
  PostgresSession running(as_runner.source, "test");
  const auto has_rights = ::testing::Each(
      ::testing::Field(&Finding::message, HasSubstr("by kind: the track renders documents for nothing")));
  EXPECT_THAT(check_postgres(running, as_runner), has_rights);
  const std::unique_ptr<Source> source = open_source(as_runner, "test");
  EXPECT_THAT(source->outbox().differences_from_applied(), ::testing::IsEmpty());
  // A function of a later apply.
  defined_.config().indices[0].tracks[2].keys =
      "select t.id from s.t as t join s.parents as p on p.id = t.parent where (p.kind).name = any(select "
      "(k).name "
      "from unnest($1) as k) and t.id > 0";
  defined_.apply(owner_);
  PostgresSession later(as_runner.source, "test");
  EXPECT_THAT(check_postgres(later, as_runner), has_rights);
}

TEST_F(RightsTest, ASuperuserMakesNothingForTheTablesOfOthers) {
  const std::string refusal = error_of([&] { defined_.apply(); });
  EXPECT_THAT(refusal, HasSubstr("superuser"));
  EXPECT_THAT(refusal, HasSubstr("--as postgresql://" + owner_ + "@"));
  EXPECT_EQ(database().number("select count(*) from pg_namespace where nspname = 'lockstep'"), 0);
  EXPECT_THAT(error_of([&] { defined_.plan(); }), HasSubstr("superuser"));
}

TEST_F(RightsTest, ASuperuserAppliesWhatBelongsToSuperusers) {
  database().execute(
      "alter schema s owner to current_user; alter type s.kind owner to current_user; alter table s.t owner "
      "to "
      "current_user; alter table s.parents owner to current_user; alter view s.v owner to current_user");
  defined_.apply();
  EXPECT_TRUE(defined_.captured_by("update s.t set x = 'y'").contains("s.t (id): 1"));
}

TEST_F(RightsTest, CheckNamesTheSuperuserBeforeItRunsCodeOfTheOwner) {
  support::execute(
      *database().connect_as(owner_),
      seizure(owner_) +
          "create or replace view s.v as select t.id as _id, t.parent as _parent, t.x, (p.kind).name "
          "from s.t join s.parents as p on p.id = t.parent where s.seize()");
  PostgresSession session(defined_.config().source, "test");
  const std::vector<Finding> findings = check_postgres(session, defined_.config());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(to_line(findings[0]), HasSubstr("superuser"));
  EXPECT_FALSE(is_superuser(owner_));
}

TEST_F(RightsTest, ATableThatOnlyKeysReadCountsToo) {
  database().execute(
      "alter schema s owner to current_user; alter type s.kind owner to current_user; alter table s.t owner "
      "to "
      "current_user; alter table s.parents owner to current_user; alter view s.v owner to current_user; "
      "create "
      "table s.links (a integer, b integer); alter table s.links owner to " +
      owner_);
  defined_.config().indices[0].tracks[2] =
      track_by_keys("s.parents", "select l.a from s.links as l where l.b = any($1)");
  EXPECT_THAT(error_of([&] { defined_.apply(); }), HasSubstr("s.links"));
}

TEST_F(RightsTest, ARoleWithRightsThatTheOwnerLacksAppliesNothing) {
  const std::string admin = database().create_role("admin");
  database().execute("grant " + owner_ + " to " + admin + "; alter role " + admin +
                     " createrole; grant create "
                     "on database " +
                     database().name() + " to " + admin);
  EXPECT_THAT(error_of([&] { defined_.apply(admin); }), HasSubstr("may make roles"));
  database().execute("alter role " + admin + " nocreaterole; grant pg_write_server_files to " + admin);
  EXPECT_THAT(error_of([&] { defined_.apply(admin); }), HasSubstr("pg_write_server_files"));
  database().execute("revoke pg_write_server_files from " + admin);
  defined_.apply(admin);
}

TEST_F(RightsTest, ATableThatIsGivenAwayAfterApplyIsNamed) {
  database().execute(
      "alter schema s owner to current_user; alter type s.kind owner to current_user; alter table s.t owner "
      "to "
      "current_user; alter table s.parents owner to current_user; alter view s.v owner to current_user");
  defined_.apply();
  EXPECT_THAT(warnings(), ::testing::IsEmpty());
  give_to(owner_);
  EXPECT_THAT(warnings(), Contains(HasSubstr("s.t")));
  EXPECT_THAT(warnings(), Contains(HasSubstr("source.url")));
}

TEST_F(RightsTest, ASchemaOfASuperuserIsNeverMendedByGrantingTheSuperuser) {
  apply_as_before();
  Config as_owner = defined_.config();
  as_owner.source.url = database().url_as(owner_);
  PostgresSession session(as_owner.source, "test");
  std::string findings;
  for (const Finding& finding : check_postgres(session, as_owner)) findings += to_line(finding) + "\n";
  EXPECT_THAT(findings, HasSubstr("run `lockstep apply` once as"));
  EXPECT_THAT(findings, ::testing::Not(HasSubstr("grant postgres")));
}

}  // namespace
}  // namespace lockstep
