// `plan`, `apply` and `remove` on the source's side: what they do, and that they do nothing twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <thread>

#include "replicator/error.h"
#include "tests/integration/defined_database.h"
#include "tests/support/shipped_files.h"

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kBlog = R"sql(
create schema blog;
create table blog.users (id bigint primary key, name text not null, email text);
create table blog.posts (id bigint primary key, user_id bigint references blog.users on delete cascade on update cascade,
                         title text, hits integer not null default 0);
create view blog.documents as
  select p.id as _id, p.user_id as _user_id, p.title, u.name as author
  from blog.posts as p left join blog.users as u on u.id = p.user_id;
)sql";

class BlogTest : public ::testing::Test {
 protected:
  BlogTest() : defined_(kBlog) {
    defined_.add_index("blog.documents", {track("blog.posts"), track_by_column("blog.users", "_user_id")});
  }
  DefinedDatabase defined_;
};

TEST_F(BlogTest, AppliedAgainNothingIsLeftToDo) {
  EXPECT_THAT(defined_.planned(), Contains("create migration 0001_schema"));
  defined_.apply();
  EXPECT_THAT(defined_.planned(), IsEmpty());
  defined_.apply();
  EXPECT_EQ(defined_.jobs(), Lines{"backfill: new index"});
}

TEST_F(BlogTest, ChangesLeadToTheirDocuments) {
  defined_.apply();
  EXPECT_EQ(
      defined_.captured_by(
          "insert into blog.users values (7, 'Ann', 'a@x'); insert into blog.posts values (1, 7, 'One')"),
      (Lines{"blog.users (id): 7", "blog.posts (id): 1"}));
  EXPECT_EQ(defined_.captured_by("update blog.users set name = 'Bo'"), Lines{"blog.users (id): 7"});
  EXPECT_EQ(
      defined_.captured_by("update blog.users set email = 'b@x'; update blog.posts set hits = hits + 1"),
      Lines{});
  EXPECT_EQ(defined_.captured_by("update blog.users set id = 8"),
            (Lines{"blog.users (id): 7 8", "blog.posts (id): 1"}));
  EXPECT_EQ(defined_.captured_by("delete from blog.users"),
            (Lines{"blog.users (id): 8", "blog.posts (id): 1"}));
  EXPECT_EQ(defined_.captured_by("truncate blog.users cascade"),
            (Lines{"blog.users (id): everything", "blog.posts (id): everything"}));
}

TEST_F(BlogTest, RemoveLeavesNothingBehind) {
  defined_.apply();
  defined_.remove();
  EXPECT_EQ(defined_.database().number("select count(*) from pg_trigger where not tgisinternal"), 0);
  EXPECT_EQ(defined_.database().number("select count(*) from pg_namespace where nspname = 'lockstep'"), 0);
  defined_.remove();
  defined_.apply();
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

// --- what changes ---

TEST_F(BlogTest, PlanTellsExactlyWhatApplyDoes) {
  std::vector<std::string> planned;
  for (const PlanStep& step : defined_.plan()) planned.push_back(step.object + "|" + step.sql);
  std::vector<std::string> done;
  PostgresSession session(defined_.config().source, "test");
  PostgresDefinition(session, defined_.config())
      .apply({[&](const PlanStep& step) { done.push_back(step.object + "|" + step.sql); }, {}});
  // But for the names of tables that are there only afterwards.
  const std::regex database(R"re("database":"[^"]*")re");
  for (auto* steps : {&planned, &done}) {
    for (std::string& step : *steps) step = std::regex_replace(step, database, "");
  }
  EXPECT_EQ(planned, done);
}

TEST_F(BlogTest, PlanChangesNothing) {
  defined_.plan();
  EXPECT_EQ(defined_.database().number("select count(*) from pg_namespace where nspname = 'lockstep'"), 0);
}

TEST_F(BlogTest, ChangedViewChangesWhatDiffersOnly) {
  defined_.apply();
  defined_.jobs();
  defined_.database().execute(
      "create or replace view blog.documents as select p.id as _id, p.user_id as _user_id, p.title, u.name "
      "as author, "
      "u.email from blog.posts as p left join blog.users as u on u.id = p.user_id");
  const std::vector<std::string> planned = defined_.planned();
  ASSERT_EQ(planned.size(), 3u) << ::testing::PrintToString(planned);
  EXPECT_THAT(planned, Contains("change index index-1"));
  EXPECT_THAT(planned, Contains(::testing::AllOf(HasSubstr("change function"), HasSubstr("users"),
                                                 HasSubstr("_update"))));
  EXPECT_THAT(planned, Contains(::testing::AllOf(HasSubstr("change function"), HasSubstr("users"),
                                                 HasSubstr("_check"))));
  defined_.apply();
  EXPECT_EQ(defined_.jobs(),
            (Lines{"backfill: the view or what it reads has changed: table blog.users, view blog.documents",
                   "sweep: the view or what it reads has changed: table blog.users, view blog.documents"}));
  EXPECT_EQ(defined_.captured_by(
                "insert into blog.users values (1, 'a', 'e'); update blog.users set email = 'new'"),
            Lines{"blog.users (id): 1"});
}

TEST_F(BlogTest, ChangedFunctionBehindTheViewIsNoticed) {
  defined_.database().execute(
      "create function blog.shout(t text) returns text language sql immutable as 'select upper(t)'; "
      "create or replace view blog.documents as select p.id as _id, p.user_id as _user_id, "
      "blog.shout(p.title) as title, "
      "u.name as author from blog.posts as p left join blog.users as u on u.id = p.user_id");
  defined_.apply();
  defined_.jobs();
  defined_.database().execute(
      "create or replace function blog.shout(t text) returns text language sql immutable as $$ select "
      "upper(t) || '!' $$");
  EXPECT_THAT(defined_.planned(), ::testing::ElementsAre("change index index-1"));
}

TEST_F(BlogTest, RemovedTrackTakesItsTriggersAlong) {
  defined_.apply();
  defined_.jobs();
  defined_.config().indices[0].tracks[1].ignore = true;
  defined_.apply();
  EXPECT_EQ(defined_.captured_by("insert into blog.users values (1, 'a')"), Lines{});
  EXPECT_EQ(
      defined_.database().number(
          "select count(*) from pg_trigger where tgrelid = 'blog.users'::regclass and not tgisinternal"),
      0);
  EXPECT_EQ(
      defined_.database().number(
          "select count(*) from pg_proc where proname like 'resolve%' or proname like 'capture%users%'"),
      0);
  EXPECT_EQ(defined_.database().number("select count(*) from lockstep.capture"), 1);
  EXPECT_EQ(defined_.jobs(), (Lines{"backfill: the tracks have changed", "sweep: the tracks have changed"}));
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

TEST_F(BlogTest, CaptureThatComesBackHasANewNumber) {
  defined_.apply();
  const std::int64_t before = defined_.database().number("select max(id) from lockstep.capture");
  defined_.config().indices[0].tracks[1].ignore = true;
  defined_.apply();
  defined_.config().indices[0].tracks[1].ignore = false;
  defined_.apply();
  EXPECT_GT(defined_.database().number("select max(id) from lockstep.capture"), before)
      << "what the outbox has of it is not meant";
}

TEST_F(BlogTest, IndexComesAndGoes) {
  defined_.apply();
  defined_.jobs();
  defined_.database().execute("create view blog.people as select id as _id, email from blog.users");
  defined_.add_index("blog.people", {track("blog.users")});
  defined_.apply();
  EXPECT_EQ(defined_.jobs(), Lines{"backfill: new index"});
  EXPECT_EQ(defined_.database().number("select count(*) from lockstep.capture"), 2)
      << "both indices share the users' keys";
  defined_.config().indices.pop_back();
  EXPECT_THAT(defined_.planned(), Contains("drop index index-2"));
  defined_.apply();
  EXPECT_EQ(defined_.database().number("select count(*) from lockstep.index"), 1);
  EXPECT_EQ(defined_.jobs(), Lines{});
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

TEST_F(BlogTest, JobThatHasNotBegunIsNotRepeated) {
  defined_.apply();
  defined_.config().indices[0].tracks[1].column.clear();
  defined_.config().indices[0].tracks[1].keys = "select id from blog.posts where user_id = any($1)";
  defined_.apply();
  EXPECT_EQ(defined_.database().number("select count(*) from lockstep.job where kind = 'backfill'"), 1);
}

TEST_F(BlogTest, EstimateOfABackfillIsThere) {
  defined_.database().execute(
      "insert into blog.posts (id) select generate_series(1, 5000); analyze blog.posts");
  defined_.apply();
  EXPECT_EQ(defined_.database().number("select total from lockstep.job"), 5000);
}

TEST_F(BlogTest, WhatSomebodyHasTamperedWithIsMended) {
  defined_.apply();
  defined_.jobs();
  defined_.database().execute(
      "do $$ begin execute (select 'create or replace function ' || p.oid::regprocedure || ' returns trigger "
      "language plpgsql as ' || quote_literal('begin return null; end') from pg_proc as p where proname like "
      "'capture%users%update'); "
      "end $$; drop trigger lockstep_1_insert on blog.posts; alter table blog.users disable trigger "
      "lockstep_1_delete");
  const std::vector<std::string> planned = defined_.planned();
  EXPECT_THAT(planned, ::testing::UnorderedElementsAre(
                           HasSubstr("change function"), "create trigger lockstep_1_insert on blog.posts",
                           "change trigger lockstep_1_delete on blog.users", "change index index-1"));
  defined_.apply();
  EXPECT_THAT(defined_.planned(), IsEmpty());
  EXPECT_EQ(defined_.jobs().size(), 2u) << "changes may have been missed";
}

TEST_F(BlogTest, PipelinesShareASchema) {
  defined_.apply();
  Config other = defined_.config();
  other.pipeline = "other";
  std::swap(other, defined_.config());
  defined_.apply();
  EXPECT_THAT(defined_.planned(), IsEmpty());
  EXPECT_EQ(defined_.database().number("select count(*) from pg_proc where proname like 'resolve%'"), 1)
      << "the same query";
  defined_.captured();
  defined_.database().execute("insert into blog.users values (1, 'a')");
  EXPECT_EQ(defined_.outbox_rows(), 2);
  defined_.remove();
  std::swap(other, defined_.config());
  EXPECT_THAT(defined_.planned(), IsEmpty());
  defined_.captured();
  defined_.database().execute("insert into blog.users values (2, 'a')");
  EXPECT_EQ(defined_.outbox_rows(), 1);
  EXPECT_EQ(defined_.database().number("select count(*) from pg_proc where proname like 'resolve%'"), 1);
}

TEST_F(BlogTest, FailedApplyLeavesEverythingAsItWas) {
  defined_.apply();
  defined_.database().execute("insert into blog.users values (1, 'not a number')");
  defined_.config().indices[0].tracks[1].row = "name::bigint";
  EXPECT_THROW(defined_.apply(), Error);
  defined_.config().indices[0].tracks[1].row.clear();
  EXPECT_THAT(defined_.planned(), IsEmpty());
  EXPECT_EQ(defined_.database().number("select count(*) from pg_class where relname = 'trial'"), 0);
}

TEST_F(BlogTest, RestoredDumpIsStillApplied) {
  defined_.apply();
  support::PostgresDatabase copy;
  const std::string command = "pg_dump '" + defined_.database().url() + "' | psql -q -v ON_ERROR_STOP=1 '" +
                              copy.url() + "' > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  Config config = defined_.config();
  config.source.url = copy.url();
  PostgresSession session(config.source, "test");
  EXPECT_TRUE(PostgresDefinition(session, config).plan().empty());
}

// --- in use ---

TEST_F(BlogTest, WritersThatAreStillRunningAreWaitedFor) {
  defined_.database().execute("insert into blog.users values (1, 'a')");
  const auto writer = defined_.database().connect();
  auto transaction = std::make_unique<pqxx::work>(*writer);
  transaction->exec("update blog.users set name = 'before the trigger'");
  int waits = 0;
  std::thread applying([&] {
    PostgresSession session(defined_.config().source, "test");
    PostgresDefinition(session, defined_.config()).apply({{}, [&](const std::string&) {
                                                            if (++waits == 2) transaction->commit();
                                                          }});
  });
  applying.join();
  EXPECT_EQ(waits, 2);
  // What was committed before the triggers came is in the backfill's snapshot; the checkpoint's does not
  // matter.
  EXPECT_EQ(defined_.captured(), Lines{});
  EXPECT_EQ(defined_.captured_by("update blog.users set name = 'after'"), Lines{"blog.users (id): 1"});
}

TEST_F(BlogTest, OtherWritersWaitNoLongerThanTheLockTimeout) {
  defined_.database().execute("insert into blog.users values (1, 'a'), (2, 'b')");
  const auto reader = defined_.database().connect();
  pqxx::work open(*reader);
  open.exec("update blog.users set name = 'open' where id = 1");
  const auto other = defined_.database().connect();
  support::execute(*other, "set statement_timeout = '5s'");
  std::exception_ptr failure;
  std::thread applying([&] {
    try {
      PostgresSession session(defined_.config().source, "test");
      PostgresDefinition(session, defined_.config(),
                         {std::chrono::milliseconds(100), std::chrono::milliseconds(1500)})
          .apply({});
    } catch (...) {
      failure = std::current_exception();
    }
  });
  for (int i = 0; i < 20; ++i)
    support::execute(*other, "update blog.users set name = name || '.' where id = 2");
  applying.join();
  ASSERT_TRUE(failure);
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("in use for too long"));
  }
  EXPECT_EQ(defined_.database().number("select count(*) from pg_trigger where not tgisinternal"), 0);
}

TEST_F(BlogTest, TableThatIsBeingAlteredIsWaitedFor) {
  const auto other = defined_.database().connect();
  auto transaction = std::make_unique<pqxx::work>(*other);
  transaction->exec("lock table blog.posts in access exclusive mode");
  int waits = 0;
  PostgresSession session(defined_.config().source, "test");
  PostgresDefinition(session, defined_.config()).apply({{}, [&](const std::string&) {
                                                          if (++waits == 1) transaction->commit();
                                                        }});
  EXPECT_GE(waits, 1);
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

TEST_F(BlogTest, TransactionThatBeganBeforeApplyIsCapturedAfterIt) {
  defined_.database().execute("insert into blog.users values (1, 'a')");
  const auto writer = defined_.database().connect();
  pqxx::work transaction(*writer);
  transaction.exec("select pg_current_xact_id()");
  defined_.apply();
  transaction.exec("update blog.users set name = 'later'");
  transaction.commit();
  EXPECT_EQ(defined_.database().number("select count(*) from lockstep.outbox as o, lockstep.checkpoint as c "
                                       "where not pg_visible_in_snapshot(o.txid, c.prev)"),
            1);
  EXPECT_EQ(defined_.captured(), Lines{"blog.users (id): 1"});
}

TEST_F(BlogTest, SeveralAppliesAtOnceAreOne) {
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      try {
        PostgresSession session(defined_.config().source, "test");
        PostgresDefinition(session, defined_.config()).apply({});
      } catch (const std::exception& error) {
        ++failures;
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(defined_.database().number("select count(*) from lockstep.pipeline"), 1);
  EXPECT_EQ(defined_.jobs(), Lines{"backfill: new index"});
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

TEST_F(BlogTest, SchemaThatIsThereAlreadyNeedsNoRightToMakeOne) {
  const std::string role = defined_.database().create_role("owner");
  defined_.database().execute(
      "create schema lockstep authorization " + role + "; alter table blog.users owner to " + role +
      "; alter table blog.posts owner to " + role + "; grant usage, create on schema blog to " + role +
      "; grant select on blog.documents to " + role);
  defined_.apply(role);
  EXPECT_EQ(defined_.captured_by("insert into blog.users values (1, 'a')"), Lines{"blog.users (id): 1"});
}

class ExampleTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ExampleTest, IsAppliedAndThenComplete) {
  const std::string name = GetParam();
  const std::filesystem::path root = LOCKSTEP_SOURCE_DIR;
  DefinedDatabase defined("");
  const std::string schema = name.starts_with("fs") ? "fs" : "blog";
  defined.database().run(root / "schema" / schema / "postgresql" / "install.sql");
  Config config = load_config(root / "config" / (name + ".toml"));
  config.source = defined.config().source;
  defined.config() = config;
  defined.apply();
  EXPECT_THAT(defined.planned(), IsEmpty());
}

// The unit test of the code compares the same file with the text alone.
TEST(GoldenPlanTest, BlogsFunctionsAndTriggersAreThoseInTheRepository) {
  const std::filesystem::path root = LOCKSTEP_SOURCE_DIR;
  DefinedDatabase defined("");
  defined.database().run(root / "schema" / "blog" / "postgresql" / "install.sql");
  Config config = load_config(root / "config" / "blog.toml");
  config.source = defined.config().source;
  defined.config() = config;
  std::string code;
  for (const PlanStep& step : defined.plan()) {
    if (!step.object.starts_with("function ") && !step.object.starts_with("trigger ")) continue;
    code += (code.empty() ? "" : "\n") + step.sql + ";\n";
  }
  const std::string golden = support::shipped_file("tests/unit/source/postgres/define/golden/blog.sql");
  EXPECT_EQ(code, golden.substr(golden.find("\ncreate ") + 1));
}

INSTANTIATE_TEST_SUITE_P(Examples, ExampleTest,
                         ::testing::Values("fs", "fs-by-id", "blog", "blog-nested", "blog-join"));

}  // namespace
}  // namespace lockstep
