// Databases and indices with settings that no test server has by itself: other encodings, read-only defaults,
// small limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/source/postgres/session/session.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/private_postgres.h"
#include "tests/support/servers.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;

constexpr const char* kItems =
    "create table items (id integer primary key, name text); "
    "insert into items select i, 'item ' || i from generate_series(1, 500) i; "
    "create view items_view as select id as _id, name from items";

void add_items(PipelineUnderTest& pipeline, const std::string& mapping = kStoringMapping) {
  pipeline.database().execute(kItems);
  pipeline.add_index("items", "public.items_view", track("public.items"), mapping);
}

TEST(ServersAsTheyAre, ALatin1DatabaseIsFollowed) {
  PostgresDatabase database(postgresql_url(), "LATIN1");
  PipelineUnderTest pipeline(database);
  add_items(pipeline);
  pipeline.must("check");
  pipeline.apply();
  const auto program = pipeline.start();
  database.execute("update items set name = 'Zoë' where id = 1");
  EXPECT_EQ(pipeline.difference_within(kPatience), "") << program->err();
  EXPECT_TRUE(wait_until([&] { return pipeline.status().at("state") == "following"; }, kPatience));
}

TEST(ServersAsTheyAre, ARefusalInWordsThatALatin1DatabaseCannotStoreIsADeadLetter) {
  PostgresDatabase database(postgresql_url(), "LATIN1");
  PipelineUnderTest pipeline(database);
  database.execute(
      "create table notes (id integer primary key, body json); "
      "create view notes_view as select id as _id, body from notes");
  pipeline.add_index("notes", "public.notes_view", track("public.notes"),
                     R"({"mappings": {"properties": {"body": {"properties": {"n": {"type": "integer"}}}}}})");
  pipeline.apply();
  const auto program = pipeline.start();
  database.execute(R"(insert into notes values (1, '{"n": "\u65e5\u672c"}'), (2, '{"n": 2}'))");
  EXPECT_TRUE(wait_until([&] { return database.number("select count(*) from lockstep.dead_letter") == 1; },
                         kPatience))
      << program->err();
  EXPECT_TRUE(wait_until([&] { return pipeline.index("notes").get("2").has_value(); }, kPatience));
}

TEST(ServersAsTheyAre, AKeyThatIsNotUtf8IsADeadLetterAndTheOthersAreFollowed) {
  PostgresDatabase database(postgresql_url(), "SQL_ASCII");
  PipelineUnderTest pipeline(database);
  database.execute(
      "create table items (id text primary key, name text); insert into items values (E'caf\\xe9', "
      "'before'); "
      "create view items_view as select id as _id, name from items");
  pipeline.add_index("items", "public.items_view", track("public.items"));
  pipeline.apply();
  const auto program = pipeline.start();
  const auto dead_letters = [&] { return database.number("select count(*) from lockstep.dead_letter"); };
  ASSERT_TRUE(wait_until([&] { return dead_letters() == 1; }, kPatience)) << program->err();
  database.execute("insert into items values (E'\\xff', 'poison'), ('good', 'one')");
  EXPECT_TRUE(wait_until([&] { return dead_letters() == 2; }, kPatience)) << program->err();
  EXPECT_TRUE(wait_until([&] { return pipeline.index("items").get("good").has_value(); }, kPatience));
  EXPECT_THAT(pipeline.must("dead-letters", {"list"}), HasSubstr("the _id is not UTF-8"));
  EXPECT_EQ(pipeline.status().at("indices").begin()->at("dead_letters"), 2);
  database.execute(
      "update items set id = 'mended' where name = 'poison'; delete from items where name = 'before'");
  EXPECT_TRUE(wait_until([&] { return dead_letters() == 0; }, kPatience)) << program->err();
  EXPECT_EQ(pipeline.difference_within(kPatience), "") << program->err();
  EXPECT_TRUE(program->running());
}

TEST(ServersAsTheyAre, AnIdThatTheDatabaseCannotHoldIsADocumentToDelete) {
  PostgresDatabase database(postgresql_url(), "LATIN1");
  PipelineUnderTest pipeline(database);
  database.execute(
      "create table items (id text primary key, name text); insert into items values ('Zoë', 'kept'); "
      "create view items_view as select id as _id, name from items");
  ElasticsearchIndex& index = pipeline.add_index("items", "public.items_view", track("public.items"));
  pipeline.apply();
  const auto program = pipeline.start();
  ASSERT_EQ(pipeline.difference_within(kPatience), "");
  index.server().expect("PUT", "/" + index.alias() + "/_doc/%E6%97%A5%E6%9C%AC?refresh=true",
                        R"({"name":"foreign"})");
  database.execute("truncate items; insert into items values ('Zoë', 'again'), ('Äpfel', 'new')");
  EXPECT_EQ(pipeline.difference_within(kPatience), "") << program->err();
  EXPECT_FALSE(index.get("日本"));
  EXPECT_TRUE(program->running());
}

TEST(ServersAsTheyAre, PagesLargerThanTheIndexAllowsAreMadeSmaller) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  add_items(
      pipeline,
      R"({"settings": {"max_result_window": 5000}, "mappings": {"properties": {"name": {"type": "text"}}}})");
  pipeline.set_more("[replication]\nchunk_documents = 20000\n");
  pipeline.apply();
  const auto program = pipeline.start();
  ASSERT_EQ(pipeline.difference_within(kPatience), "");
  database.execute("truncate items; insert into items values (1000, 'new')");
  EXPECT_EQ(pipeline.difference_within(kPatience), "") << program->err();
  EXPECT_EQ(pipeline.lockstep("verify").exit_code, 0);
}

TEST(ServersAsTheyAre, ADatabaseThatTakesNoWritesForAMomentIsWaitedFor) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  add_items(pipeline);
  pipeline.apply();
  const auto program = pipeline.start();
  ASSERT_EQ(pipeline.difference_within(kPatience), "");
  const auto set_read_only = [&](const std::string& value) {
    database.execute("alter database " + database.name() + " set default_transaction_read_only = " + value);
    database.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and "
        "application_name like 'lockstep %'");
  };
  database.execute("set default_transaction_read_only = off");
  set_read_only("on");
  EXPECT_TRUE(
      wait_until([&] { return program->err().find("takes no writes now") != std::string::npos; }, kPatience))
      << program->err();
  const Completed checked = pipeline.lockstep("check");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.out, HasSubstr("default_transaction_read_only is on"));
  const auto says_why = [&] {
    return pipeline.must("status").find("default_transaction_read_only is on") != std::string::npos;
  };
  EXPECT_TRUE(wait_until(says_why, kPatience)) << pipeline.must("status");
  set_read_only("off");
  database.execute("update items set name = 'after' where id = 1");
  EXPECT_EQ(pipeline.difference_within(kPatience), "") << program->err();
  EXPECT_TRUE(program->running());
}

// PostgreSQL 17 has one more than 15, and it ended each transaction that rendered for long, without a word.
TEST(ServersAsTheyAre, TimeoutsOfTheDatabaseEndNoLargeChange) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  database.execute(
      "create table items (id integer primary key, name text); "
      "insert into items select i, 'item ' || i from generate_series(1, 10) i; "
      "create view items_view as select id as _id, name, pg_sleep(0.02)::text as pause from items");
  pipeline.add_index("items", "public.items_view", track("public.items"));
  pipeline.apply();
  const std::string timeouts =
      " from pg_settings where name ~ '^(statement|lock|transaction|idle_session|"
      "idle_in_transaction_session)_timeout$'";
  database.execute("do $$ declare n text; begin for n in select name" + timeouts +
                   " loop execute format('alter database %I set %I = %L', current_database(), n, '100ms'); "
                   "end loop; end $$");
  SourceConfig source;
  source.url = database.url();
  source.password = Secret(database.password());
  PostgresSession session(source, "test");
  const pqxx::result set = session.ask(
      "asking for timeouts", "select string_agg(name, ', ') filter (where setting <> '0')" + timeouts);
  EXPECT_TRUE(set[0][0].is_null()) << set[0][0].c_str();
  pipeline.must("run", {"--until-caught-up"}, std::chrono::seconds(20));
  database.execute("update items set name = 'changed'");
  pipeline.must("run", {"--until-caught-up"}, std::chrono::seconds(20));
  pipeline.must("verify");
}

// Apply workers fire no statement triggers. Only `check` reported it.
TEST(ServersAsTheyAre, ChangesThatASubscriptionMakesAreNoSilence) {
  const PrivatePostgres server({"wal_level=logical"});
  PostgresDatabase publisher(server.url());
  PostgresDatabase database(server.url());
  constexpr const char* kParted =
      "create table items (id integer primary key, name text) partition by range (id); "
      "create table items_low partition of items for values from (0) to (1000); ";
  publisher.execute(std::string(kParted) +
                    "create publication changes for table items with (publish_via_partition_root = true)");
  publisher.execute("select pg_create_logical_replication_slot('changes', 'pgoutput')");
  PipelineUnderTest pipeline(database);
  database.execute(std::string(kParted) + "create view items_view as select id as _id, name from items_low");
  pipeline.add_index("items", "public.items_view", track("public.items_low"));
  pipeline.apply();
  const auto program = pipeline.start();
  const auto warnings = [&] { return pipeline.status().at("warnings").dump(); };
  ASSERT_TRUE(wait_until([&] { return pipeline.status().at("state") == "following"; }, kPatience));
  EXPECT_EQ(warnings(), "[]");
  database.execute("create subscription changes connection '" + publisher.url() +
                   "' publication changes with (create_slot = false)");
  const std::string warning = "changes of public.items_low that a subscription makes are not followed";
  EXPECT_TRUE(
      wait_until([&] { return warnings().find(warning) != std::string::npos; }, std::chrono::seconds(20)))
      << program->err();
  publisher.execute("insert into items values (1, 'one')");
  ASSERT_TRUE(wait_until([&] { return database.number("select count(*) from items") == 1; }, kPatience));
  const Completed waited = pipeline.lockstep("wait");
  EXPECT_EQ(waited.exit_code, 0);
  EXPECT_THAT(waited.err, HasSubstr(warning));
  EXPECT_THAT(program->err(), HasSubstr(warning));
  EXPECT_THAT(pipeline.must("check"), HasSubstr("filled by a subscription"));
  database.execute("drop subscription changes");
}

// Triggers took 03/04 for the 4th of March, the view for the 3rd of April.
TEST(ServersAsTheyAre, ARowExpressionMeansTheSameToTriggersAndToTheView) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  database.execute("alter database " + database.name() + " set datestyle = 'SQL, DMY'");
  database.execute("alter database " + database.name() + " set default_text_search_config = 'english'");
  database.execute(
      "set datestyle = 'ISO, MDY'; create table bookings (id integer primary key, day text, hits integer); "
      "insert into bookings values (1, '03/04/2024', 1); "
      "create function day_number(d date) returns integer language sql immutable as $$ select d - "
      "date '2000-01-01' $$; "
      "create view bookings_view as select public.day_number(b.day::date)::text || "
      "to_tsvector('houses')::text as _id, sum(b.hits) as hits from bookings as b group by 1");
  pipeline.add_index("bookings", "public.bookings_view",
                     track("public.bookings",
                           {{"row", "public.day_number(day::date)::text || to_tsvector('houses')::text"}}));
  pipeline.apply();
  const auto program = pipeline.start();
  EXPECT_TRUE(wait_until([&] { return pipeline.status().at("state") == "following"; }, kPatience));
  database.execute(
      "set datestyle = 'SQL, MDY'; set default_text_search_config = 'simple'; set transform_null_equals = "
      "on; "
      "update bookings set hits = 2; insert into bookings values (2, '25/12/2024', 1)");
  EXPECT_EQ(pipeline.lockstep("wait").exit_code, 0);
  pipeline.must("verify");
  EXPECT_EQ(pipeline.must("plan"), "nothing to do\n");
  EXPECT_EQ(pipeline.status().at("warnings").dump(), "[]");
}

TEST(ServersAsTheyAre, ADateStyleThatChangesAfterTheApplyIsNoSilence) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  database.execute(
      "create table bookings (id integer primary key, day text); "
      "create view bookings_view as select (day::date)::text as _id, count(*) as n from bookings group by 1");
  pipeline.add_index("bookings", "public.bookings_view",
                     track("public.bookings", {{"row", "(day::date)::text"}}));
  pipeline.apply();
  database.execute("alter database " + database.name() + " set datestyle = 'ISO, DMY'");
  const auto program = pipeline.start();
  const std::string warning = "triggers take DateStyle for ISO, MDY, and lockstep's session has ISO, DMY";
  EXPECT_TRUE(
      wait_until([&] { return pipeline.status().at("warnings").dump().find(warning) != std::string::npos; },
                 std::chrono::seconds(20)))
      << pipeline.status().dump(2);
  EXPECT_THAT(pipeline.must("check"), HasSubstr(warning));
  pipeline.apply();
  EXPECT_TRUE(
      wait_until([&] { return pipeline.status().at("warnings").dump() == "[]"; }, std::chrono::seconds(20)))
      << pipeline.status().dump(2);
}

// The names of our own tables and views came back in quotes, so that they were taken for gone.
TEST(ServersAsTheyAre, ADatabaseThatQuotesAllNamesIsFollowed) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  add_items(pipeline);
  pipeline.apply();
  database.execute("alter database " + database.name() + " set quote_all_identifiers = on");
  EXPECT_EQ(pipeline.must("plan"), "nothing to do\n");
  pipeline.must("check");
  const auto program = pipeline.start();
  ASSERT_EQ(pipeline.difference_within(kPatience), "");
  const auto writer = database.connect();
  support::execute(*writer, "update items set name = 'after' where id = 1");
  EXPECT_EQ(pipeline.difference_within(kPatience), "") << program->err();
  EXPECT_EQ(program->err().find("is gone"), std::string::npos) << program->err();
}

TEST(ServersAsTheyAre, AnIdOfTypeCharIsRefusedByCheck) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  database.execute(
      "create table items (id char(8) primary key, name text); "
      "create view items_view as select id as _id, name from items");
  pipeline.add_index("items", "public.items_view", track("public.items"));
  const Completed check = pipeline.lockstep("check");
  EXPECT_EQ(check.exit_code, 2);
  EXPECT_THAT(check.out + check.err, HasSubstr("cast it in the view: (…)::text as _id"));
}

}  // namespace
}  // namespace lockstep::support
