// The role of `lockstep run`: with exactly the printed grants it can do everything that the tail does, and
// nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "replicator/source/open_source.h"
#include "replicator/source/postgres/define/grants.h"
#include "replicator/source/postgres/define/preflight.h"
#include "replicator/source/source.h"
#include "tests/integration/defined_database.h"
#include "tests/support/eventually.h"

namespace lockstep {
namespace {

constexpr const char* kSchema = R"sql(
create schema s; create schema types; create schema hidden;
create type types.colour as enum ('red', 'green');
create table hidden.users (id integer primary key, name text, colour types.colour);
create table hidden.posts (id integer primary key, user_id integer, title text);
create index on hidden.posts (user_id);
create function hidden.name_of(i integer) returns text language sql stable begin atomic select name from hidden.users where id = i; end;
revoke execute on function hidden.name_of(integer) from public;
create view s.v as select p.id as _id, p.user_id::text as _routing, p.user_id as _user_id, p.title, hidden.name_of(p.user_id)
from hidden.posts as p;
insert into hidden.users select i, 'u', 'red' from generate_series(1, 10) as i;
insert into hidden.posts select i, i % 10 + 1, 't' from generate_series(1, 100) as i;
)sql";

class RolesTest : public ::testing::Test {
 protected:
  RolesTest() : defined_(kSchema), role_(defined_.database().create_role("run")) {
    TrackConfig by_colour = track_by_row("hidden.users", "colour");
    by_colour.keys =
        "select p.id from hidden.posts as p join hidden.users as u on u.id = p.user_id where u.colour = "
        "any($1)";
    defined_.add_index("s.v",
                       {track("hidden.posts"), track_by_column("hidden.users", "_user_id"), by_colour});
    defined_.apply();
  }

  std::vector<std::string> grants() {
    PostgresSession session(defined_.config().source, "test");
    return PostgresDefinition(session, defined_.config()).grants(role_);
  }
  void grant() {
    for (const std::string& statement : grants()) defined_.database().execute(statement);
  }
  Config as_role() {
    Config config = defined_.config();
    config.source.url = defined_.database().url_as(role_);
    return config;
  }

  DefinedDatabase defined_;
  std::string role_;
};

JobPosition finished(JobKind kind) {
  if (kind == JobKind::kSweep) return Scanning{};
  return AfterDocument{DocumentId{"100"}};
}

// `check` said "no errors", and every index was set aside at its first page.
TEST_F(RolesTest, FunctionOfAViewThatTheRoleMayNotReadForIsFound) {
  defined_.database().execute(
      "create function hidden.posts_of(i integer) returns bigint language plpgsql stable as "
      "'begin return (select count(*) from hidden.posts where user_id = i); end'; "
      "create or replace view s.v as select p.id as _id, p.user_id::text as _routing, p.user_id as _user_id, "
      "p.title, hidden.name_of(p.user_id), hidden.posts_of(p.user_id) from hidden.posts as p");
  defined_.apply();
  grant();
  defined_.database().execute("grant usage on schema hidden to " + role_);
  PostgresSession session(as_role().source, "test");
  const auto lines = [&] {
    std::vector<std::string> found;
    for (const Finding& finding : check_postgres(session, as_role())) found.push_back(to_line(finding));
    return found;
  };
  EXPECT_THAT(lines(),
              testing::Contains(testing::AllOf(testing::HasSubstr("permission denied for table posts"),
                                               testing::HasSubstr("security definer"))));
  defined_.database().execute("alter function hidden.posts_of security definer set search_path = pg_catalog");
  EXPECT_THAT(lines(), testing::Not(testing::Contains(testing::HasSubstr("permission denied"))));
}

TEST_F(RolesTest, AViewThatTheRoleMayNotReadIsNoMatterOfAFunction) {
  defined_.apply();
  grant();
  defined_.database().execute("revoke select on s.v from " + role_);
  PostgresSession session(as_role().source, "test");
  std::vector<std::string> found;
  for (const Finding& finding : check_postgres(session, as_role())) found.push_back(to_line(finding));
  EXPECT_THAT(found, testing::Not(testing::Contains(testing::HasSubstr("a function that the view calls"))));
  EXPECT_THAT(found, testing::Contains(testing::AnyOf(testing::HasSubstr("grant select"),
                                                      testing::HasSubstr("plan --as URL --role " + role_))));
}

TEST_F(RolesTest, RoleWithTheGrantsRunsAllStatementsOfTheTail) {
  grant();
  const Config config = as_role();
  const std::unique_ptr<Source> source = open_source(config, "test");
  source->reload();
  const AppliedPipeline& pipeline = source->pipeline();
  source->revision();
  source->lead().identity();
  source->lead().epoch();
  source->lead().is_led();
  ASSERT_TRUE(source->lead().try_lead());
  const Epoch epoch = source->lead().raise_epoch({}, {});
  ChangeLog& log = source->changes();
  const Position position = log.checkpoint();
  EXPECT_EQ(log.jobs().readable.size(), 1u);
  defined_.database().execute(
      "update hidden.users set name = 'new', colour = 'green' where id < 3; "
      "update hidden.posts set title = 'new' where id = 1; delete from hidden.posts where id = 2");
  const AppliedIndex& index = pipeline.indices.at(0);
  {
    const auto transaction = log.begin(epoch);
    const Changes changes = transaction->read_changes(position, {1000});
    EXPECT_GT(changes.rows, 0);
    const auto ids = transaction->resolve(index, changes.captured, {1000});
    ASSERT_TRUE(ids);
    EXPECT_GE(ids->size(), 20u);
    int documents = 0;
    const auto count = [&](const RenderedDocument&) { ++documents; };
    transaction->render_for(DocumentVersion(epoch, 1), index, *ids, 1 << 20, count);
    EXPECT_GE(documents, 20);
    transaction->render_page_for(DocumentVersion(epoch, 2), index, std::nullopt, 10, 1 << 20, count);
    transaction->add_due_changes(index, changes.captured, DocumentVersion(epoch, 1));
    transaction->add_due(index, {{"7"}}, {.reason = "test"});
    transaction->add_repair(index, {{DocumentId{"3"}, "4"}}, {.reason = "test"});
    transaction->stale(index, {{DocumentId{"1"}, "2"}, {DocumentId{"nothing"}, ""}});
    transaction->add_job(index.id, JobKind::kSweep, "test");
    Acknowledged acknowledged;
    acknowledged.position = changes.next;
    acknowledged.refused.push_back({index.id, DocumentId{"1"}, "", DocumentVersion(epoch, 1), 400, "x", "y"});
    EXPECT_EQ(transaction->new_dead_letters(acknowledged.refused).size(), 1u);
    acknowledged.no_longer_refused.push_back({index.id, DocumentId{"2"}, "", DocumentVersion(epoch, 1)});
    acknowledged.gone_routes.push_back({index.id, DocumentId{"2"}, "3", DocumentVersion(epoch, 1)});
    transaction->save(acknowledged);
    transaction->may_be_shown();
    const Committed added = transaction->commit();
    EXPECT_GE(added.jobs.size(), 1u);
    EXPECT_EQ(added.due, std::set<IndexId>{index.id});
  }
  {
    EXPECT_TRUE(
        support::wait_until([&] { return log.find_due(index).has_value(); }, std::chrono::seconds(20)));
    const auto transaction = log.begin(epoch);
    const NextDue next = transaction->next_due(index.id, {});
    ASSERT_TRUE(next.page);
    Acknowledged acknowledged;
    acknowledged.written_pages.push_back({next.page->number, next.page->as_of});
    transaction->save(acknowledged);
    transaction->commit();
    EXPECT_EQ(log.due().size(), 1u);
  }
  {
    const std::vector<Job> jobs = log.jobs().readable;
    const auto transaction = log.begin(epoch);
    Acknowledged acknowledged;
    for (const Job& job : jobs) {
      acknowledged.jobs.push_back({job.id, job.kind, finished(job.kind), 1, true});
    }
    transaction->save(acknowledged);
    transaction->commit();
  }
  {
    const auto reading = log.read();
    reading->stale(index, {{DocumentId{"1"}, "2"}});
    reading->require_readable(index);
    reading->position();
  }
  DeadLetterFilter filter;
  filter.indices = {index.id};
  EXPECT_EQ(source->dead_letters().count(filter), 1);
  filter.ids = {DocumentId{"1"}};
  EXPECT_EQ(source->dead_letters().find(filter, std::nullopt, 10).size(), 1u);
  log.has_passed(position);
  log.may_have_changed(position);
  log.await_change(position, std::chrono::milliseconds(1), std::chrono::milliseconds(1));
  open_status_writer(config)->publish({"following", "", "{}"});
  source->outbox().prune();
  for (int slot = 0; slot < 3; ++slot) {
    defined_.database().execute("set role " + role_ + "; truncate lockstep.outbox_" + std::to_string(slot) +
                                "; reset role");
  }
}

TEST_F(RolesTest, RoleCannotReadTheTablesNorChangeThem) {
  grant();
  const auto connection = defined_.database().connect_as(role_);
  for (const char* statement :
       {"select * from hidden.posts", "delete from hidden.posts",
        "insert into lockstep.outbox (capture) values (1)", "update lockstep.pipeline set name = 'x'",
        "delete from lockstep.checkpoint", "drop schema lockstep cascade",
        "create table lockstep.mine (a integer)", "insert into lockstep.capture default values"}) {
    EXPECT_THROW(support::execute(*connection, statement), pqxx::insufficient_privilege) << statement;
  }
}

TEST_F(RolesTest, EachGrantIsNeeded) {
  // Without any one of them preflight names it, and nothing else.
  grant();
  for (const std::string& statement : grants()) {
    if (!statement.starts_with("grant ")) continue;
    const std::size_t to = statement.rfind(" to ");
    defined_.database().execute("revoke " + statement.substr(6, to - 6) + " from " + role_);
    PostgresSession session(as_role().source, "test");
    PostgresTransaction transaction(session, "asking for rights");
    const std::vector<std::string> missing = missing_grants(
        transaction, design_pipeline(transaction, defined_.config(), defined_.config().indices));
    EXPECT_THAT(missing, ::testing::ElementsAre(statement));
    defined_.database().execute(statement);
  }
}

TEST_F(RolesTest, FunctionsOfALaterApplyCanBeUsedAtOnce) {
  grant();
  defined_.config().indices[0].tracks[1].column.clear();
  defined_.config().indices[0].tracks[1].keys =
      "select id from hidden.posts where user_id = any($1) and id > 0";
  defined_.apply();
  const auto connection = defined_.database().connect_as(role_);
  for (const pqxx::row& row : defined_.database().query(
           "select resolver || '(null)' from lockstep.track where resolver is not null")) {
    support::execute(*connection, "select * from " + std::string(row[0].c_str()));
  }
}

TEST_F(RolesTest, NobodyElseCanCallTheFunctions) {
  const std::string stranger = defined_.database().create_role("stranger");
  defined_.database().execute("grant usage on schema lockstep to " + stranger);
  const auto connection = defined_.database().connect_as(stranger);
  for (const pqxx::row& row : defined_.database().query(
           "select p.oid::regproc || '(' || (select coalesce(string_agg('null', ', '), '') from "
           "generate_series(1, pronargs)) || ')' from pg_proc as p where pronamespace = "
           "'lockstep'::regnamespace")) {
    const std::string call = row[0].c_str();
    EXPECT_THROW(support::execute(*connection, "select " + call), pqxx::insufficient_privilege) << call;
  }
}

// The schema belonged to the member, and the owner was shut out.
TEST(MemberTest, WhatAMemberOfTheOwnerAppliesBelongsToTheOwner) {
  DefinedDatabase defined(
      "create schema s; create table s.t (id integer primary key, x text); "
      "create view s.v as select id as _id, x from s.t");
  support::PostgresDatabase& database = defined.database();
  const std::string owner = database.create_role("owner");
  const std::string member = database.create_role("member");
  database.execute("alter schema s owner to " + owner + "; alter table s.t owner to " + owner +
                   "; alter view s.v owner to " + owner + "; grant " + owner + " to " + member +
                   "; grant create on database " + database.name() + " to " + member);
  defined.add_index("s.v", {track("s.t")});
  const auto as = [&](const std::string& role) {
    Config config = defined.config();
    config.source.url = database.url_as(role);
    return config;
  };
  const auto plan_as = [&](const std::string& role) {
    const Config config = as(role);
    PostgresSession session(config.source, "test");
    std::vector<std::string> steps;
    for (const PlanStep& step : PostgresDefinition(session, config).plan())
      steps.push_back(step.object + ": " + step.detail);
    return steps;
  };
  EXPECT_THAT(plan_as(member), ::testing::Contains("owner of schema lockstep and of its contents: " + owner +
                                                   ", the owner of the tracked tables"));
  defined.apply(member);
  EXPECT_EQ(
      database.value("select string_agg(distinct pg_get_userbyid(o), ', ') from (select nspowner from "
                     "pg_namespace where nspname = 'lockstep' union select relowner from pg_class where "
                     "relnamespace = 'lockstep'::regnamespace union select proowner from pg_proc where "
                     "pronamespace = 'lockstep'::regnamespace) as each(o)"),
      owner);
  for (const std::string& role : {owner, member}) {
    EXPECT_THAT(plan_as(role), ::testing::IsEmpty());
    const Config config = as(role);
    PostgresSession session(config.source, "test");
    EXPECT_THAT(check_postgres(session, config), ::testing::IsEmpty());
  }
  defined.add_index("s.v", {track_by_row("s.t", "id + 0")});
  defined.apply(member);
  EXPECT_EQ(defined.captured_by("insert into s.t values (1, 'x')"),
            (Lines{"s.t (id + 0): 1", "s.t (id): 1"}));
  const Config config = as(owner);
  PostgresSession session(config.source, "test");
  PostgresDefinition(session, config).remove({});
  EXPECT_EQ(database.number("select count(*) from pg_namespace where nspname = 'lockstep'"), 0);
}

TEST(InvokerTest, ViewThatReadsWithTheRightsOfItsReaderNeedsMoreGrants) {
  DefinedDatabase defined(
      "create schema s; create table s.t (id integer primary key, x text); create table s.u (id integer "
      "primary key); "
      "create view s.nested with (security_invoker) as select t.id, t.x from s.t; "
      "create view s.v with (security_invoker) as select i.id as _id, i.x from s.nested as i join s.u using "
      "(id)");
  defined.add_index("s.v", {track("s.t"), track("s.u")});
  defined.apply();
  const std::string role = defined.database().create_role("run");
  PostgresSession session(defined.config().source, "test");
  const std::vector<std::string> grants = PostgresDefinition(session, defined.config()).grants(role);
  for (const char* what : {"grant select on s.v to ", "grant select on s.nested to ",
                           "grant select on s.t to ", "grant select on s.u to "}) {
    EXPECT_THAT(grants, ::testing::Contains(::testing::StartsWith(what)));
  }
  for (const std::string& statement : grants) defined.database().execute(statement);
  support::execute(*defined.database().connect_as(role), "select * from s.v");
}

}  // namespace
}  // namespace lockstep
