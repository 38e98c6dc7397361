// A view, or what it is made of, is replaced, rows change, and it is put back: no document stays as it was
// rendered in between, and neither `wait` nor `status` is content before that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

#include "tests/integration/items_and_others.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/sqlite_application.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

/// What a difference of definitions may take until `status` shows it.
constexpr seconds kPromised{15};

struct Member {
  const char* name;
  const char* definition;  ///< statements, of others_view for one
  const char* replace;
  const char* put_back;
  const char* named;  ///< the part, as the warning names it
};

std::ostream& operator<<(std::ostream& out, const Member& member) {
  return out << member.name;
}

constexpr const char* kShout =
    "create or replace function shout(t text) returns text language sql immutable as 'select upper(t)'; ";
constexpr const char* kQuiet =
    "create or replace function shout(t text) returns text language sql immutable as 'select lower(t)'; ";

// What is replaced, so that documents differ and the shape of the view does not.
const Member kMembers[] = {
    {"View", "", "create or replace view others_view as select id as _id, name || '!' as name from others",
     "create or replace view others_view as select id as _id, name from others", "view public.others_view"},
    {"NestedView",
     "create view inner_view as select id, name from others; "
     "create or replace view others_view as select id as _id, name from inner_view",
     "create or replace view inner_view as select id, name || '!' as name from others",
     "create or replace view inner_view as select id, name from others", "view public.inner_view"},
    {"Function",
     "create function shout(t text) returns text language sql immutable as 'select upper(t)'; "
     "create or replace view others_view as select id as _id, public.shout(name) as name from others",
     kQuiet, kShout, "function public.shout(text)"},
    {"FunctionWithSqlBody",
     "create function shout(t text) returns text language sql immutable return upper(t); "
     "create or replace view others_view as select id as _id, public.shout(name) as name from others",
     "create or replace function shout(t text) returns text language sql immutable return lower(t)",
     "create or replace function shout(t text) returns text language sql immutable return upper(t)",
     "function public.shout(text)"},
    {"EnumLabel",
     "create type mood as enum ('sad', 'happy'); alter table others add column mood mood default 'sad'; "
     "create or replace view others_view as select id as _id, name, mood from others",
     "alter type mood rename value 'sad' to 'blue'", "alter type mood rename value 'blue' to 'sad'",
     "type public.mood"},
    {"LabelThatTheViewLists",
     "create type mood as enum ('sad', 'happy'); alter table others add column mood mood default 'sad'; "
     "create or replace view others_view as select id as _id, name, enum_range(mood) as moods from others",
     "alter type mood rename value 'happy' to 'glad'", "alter type mood rename value 'glad' to 'happy'",
     "type public.mood"},
    {"TextSearchConfiguration",
     "create text search configuration plain (copy = pg_catalog.simple); "
     "create or replace view others_view as select id as _id, to_tsvector('public.plain', name)::text as "
     "name from others",
     "alter text search configuration plain alter mapping for asciiword with german_stem",
     "alter text search configuration plain alter mapping for asciiword with simple",
     "text search configuration public.plain"},
    {"TextSearchDictionary",
     "create text search dictionary stem (template = snowball, language = english, stopwords = english); "
     "create text search configuration plain (copy = pg_catalog.simple); "
     "alter text search configuration plain alter mapping for asciiword with stem; "
     "create or replace view others_view as select id as _id, to_tsvector('public.plain', name)::text as "
     "name from others",
     "alter text search dictionary stem (stopwords)",
     "alter text search dictionary stem (stopwords = english)", "text search dictionary public.stem"},
    {"AttributeOfAType",
     "create type pair as (a integer, b text); alter table others add column pair pair default '(1,x)'; "
     "create or replace view others_view as select id as _id, name, to_jsonb(pair) as pair from others",
     "alter type pair rename attribute a to c", "alter type pair rename attribute c to a",
     "type public.pair"},
    {"ColumnBelowAWholeRow",
     "create or replace view others_view as select id as _id, name, to_jsonb(o) as other from others as o",
     "alter table others add column colour text default 'red'", "alter table others drop column colour",
     "table public.others"},
    {"ViewOptions", "", "alter view others_view set (security_barrier = true)",
     "alter view others_view reset (security_barrier)", "view public.others_view"},
};

class ReplacedDefinitions : public testing::TestWithParam<Member> {
 protected:
  ReplacedDefinitions() : pipeline_(database_) { add_items_and_others(pipeline_); }

  void SetUp() override {
    if (*GetParam().definition != '\0') database_.execute(GetParam().definition);
    pipeline_.apply();
    program_ = pipeline_.start();
    pipeline_.must("wait");
  }

  void TearDown() override {
    if (HasFailure()) std::cout << program_->err();
  }

  void replace_and_render() {
    database_.execute(GetParam().replace);
    database_.execute("update others set name = name || ' again' where id <= 10");
    ASSERT_TRUE(wait_until(
        [&] {
          return pipeline_.index("others").get("10")->json.find("gain") != std::string::npos ||
                 pipeline_.index("others").get("10")->json.find("GAIN") != std::string::npos;
        },
        kPatience));
  }
  std::string warnings() { return pipeline_.status().at("warnings").dump(); }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
  std::unique_ptr<Program> program_;
};

TEST_P(ReplacedDefinitions, AreNamedWithinThePromisedTimeAndWaitIsNotContent) {
  database_.execute(GetParam().replace);
  EXPECT_TRUE(wait_until([&] { return warnings().find(GetParam().named) != std::string::npos; }, kPromised))
      << warnings();
  EXPECT_THAT(program_->err(), HasSubstr(GetParam().named));
  const Completed waited = pipeline_.lockstep("wait", {"--timeout", "500ms"});
  EXPECT_EQ(waited.exit_code, 1);
  EXPECT_THAT(waited.err, HasSubstr(std::string(GetParam().named) + " changed since the last apply"));
  pipeline_.apply();
  pipeline_.must("wait");
  pipeline_.must("verify");
}

TEST_P(ReplacedDefinitions, ADefinitionReplacedAndPutBackLeavesNoWrongDocuments) {
  replace_and_render();
  database_.execute(GetParam().put_back);
  pipeline_.must("wait");
  pipeline_.must("verify");
  EXPECT_EQ(warnings(), "[]");
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
}

TEST_P(ReplacedDefinitions, OneThatIsPutBackWhileNoServiceRunsIsComparedByApply) {
  replace_and_render();
  ASSERT_TRUE(wait_until([&] { return warnings().find(GetParam().named) != std::string::npos; }, kPatience));
  program_->signal(SIGTERM);
  EXPECT_EQ(program_->wait(kPatience), 0);
  database_.execute(GetParam().put_back);
  EXPECT_EQ(pipeline_.lockstep("wait", {"--timeout", "500ms"}).exit_code, 1);
  EXPECT_THAT(pipeline_.must("check"), HasSubstr("may have been another for a while"));
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("it is compared with its view"));
  pipeline_.apply();
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
  pipeline_.catch_up();
  pipeline_.must("verify");
}

TEST_P(ReplacedDefinitions, OneThatWasPutBackUnseenIsComparedByTheNextService) {
  replace_and_render();
  program_->signal(SIGTERM);
  EXPECT_EQ(program_->wait(kPatience), 0);
  database_.execute(GetParam().put_back);
  program_ = pipeline_.start();
  pipeline_.must("wait");
  pipeline_.must("verify");
}

// `wait` ended with 1 until `apply` was run, which wrote every document again.
TEST(GrownEnum, WaitIsContentWhenAnEnumGetsALabelWithoutAnApply) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  add_items_and_others(pipeline);
  database.execute(
      "create type mood as enum ('sad', 'happy'); alter table others add column mood mood default 'sad'; "
      "create or replace view others_view as select id as _id, name, mood from others");
  pipeline.apply();
  const std::unique_ptr<Program> program = pipeline.start();
  pipeline.must("wait");
  database.execute("alter type mood add value 'angry' before 'happy'");
  database.execute("alter type mood add value 'calm'");
  database.execute(
      "update others set mood = 'angry' where id = 1; update others set mood = 'calm' where id = 2");
  pipeline.must("wait");
  EXPECT_THAT(pipeline.index("others").get("1")->json, HasSubstr("angry"));
  pipeline.must("verify");
  EXPECT_EQ(pipeline.status().at("warnings").dump(), "[]");
  EXPECT_THAT(pipeline.must("check"), Not(HasSubstr("mood")));
  EXPECT_THAT(pipeline.must("plan"), HasSubstr("nothing to do"));
  EXPECT_EQ(database.number("select count(*) from lockstep.job"), 0);

  // A label that was another meanwhile is one whose documents may be.
  database.execute("alter type mood rename value 'happy' to 'glad'");
  database.execute("alter type mood rename value 'glad' to 'happy'; alter type mood add value 'bored'");
  pipeline.must("wait");
  EXPECT_THAT(program->err(), HasSubstr("type public.mood may have been another for a while"));
  pipeline.must("verify");
  if (testing::Test::HasFailure()) std::cout << program->err();
}

// All documents stayed as they were, and `status`, `wait`, `check` and `plan` had no word of it.
TEST(SettingsOfTheDatabase, ThatMakeAViewGiveOtherDocumentsAreNamedAndApplyWritesThese) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  add_items_and_others(pipeline);
  database.execute(
      "alter table others add column day_text text default '03/04/2029'; "
      "create or replace view others_view as select id as _id, name, day_text::date as day, "
      "to_tsvector(name)::text as words from others");
  pipeline.apply();
  const std::unique_ptr<Program> program = pipeline.start();
  pipeline.must("wait");
  EXPECT_THAT(pipeline.index("others").get("1")->json, HasSubstr("2029-03-04"));
  const auto set = [&](const std::string& setting) {
    database.execute("do $$ begin execute format('alter database %I set " + setting +
                     "', current_database()); end $$");
  };
  for (const auto& [setting, name] :
       {std::pair{"datestyle = ''SQL, DMY''", "setting DateStyle"},
        {"default_text_search_config = ''pg_catalog.german''", "setting default_text_search_config"}}) {
    set(setting);
    EXPECT_TRUE(wait_until(
        [&, name = name] { return pipeline.status().at("warnings").dump().find(name) != std::string::npos; },
        kPromised))
        << pipeline.status().at("warnings");
    const Completed waited = pipeline.lockstep("wait", {"--timeout", "500ms"});
    EXPECT_EQ(waited.exit_code, 1);
    EXPECT_THAT(waited.err, HasSubstr(std::string(name) + " changed since the last apply"));
    pipeline.apply();
    pipeline.must("wait");
    pipeline.must("verify");
    EXPECT_TRUE(wait_until([&] { return pipeline.status().at("warnings").empty(); }, kPromised))
        << pipeline.status().at("warnings");
  }
  EXPECT_THAT(pipeline.index("others").get("1")->json, HasSubstr("2029-04-03"));
  database.execute("update others set name = 'again' where id = 1");
  pipeline.must("wait");
  EXPECT_THAT(pipeline.index("others").get("1")->json, HasSubstr("2029-04-03"));
  if (testing::Test::HasFailure()) std::cout << program->err();
}

// `apply` wrote every document again after `set (fillfactor = 70)`.
TEST(StorageOptions, OfATableAreNoDifferenceThoughThoseOfAViewAre) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  add_items_and_others(pipeline);
  pipeline.apply();
  database.execute("alter table others set (fillfactor = 70, autovacuum_enabled = false)");
  EXPECT_THAT(pipeline.must("check"), Not(HasSubstr("changed since the last apply")));
  EXPECT_THAT(pipeline.must("plan"), HasSubstr("nothing to do"));
  database.execute("alter view others_view set (security_barrier = true)");
  EXPECT_THAT(pipeline.must("check"), HasSubstr("view public.others_view changed since the last apply"));
  EXPECT_THAT(pipeline.must("plan"), HasSubstr("view public.others_view"));
}

// Where row security is switched on and off, no row of the catalogue tells: the leader has to have seen it.
TEST(ReplacedPolicies, RowsThatAPolicyHidForAWhileComeBack) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  add_items_and_others(pipeline);
  const std::string owner = database.create_role("owner");
  database.execute("grant create on database " + database.name() + " to " + owner +
                   "; alter table items owner to " + owner + "; alter table others owner to " + owner +
                   "; alter view items_view owner to " + owner + "; alter view others_view owner to " +
                   owner +
                   "; alter table others enable row level security, force row level security; "
                   "create policy seen on others using (true)");
  pipeline.set_role(owner);
  pipeline.apply();
  const std::unique_ptr<Program> program = pipeline.start();
  pipeline.must("wait");
  const auto is_gone = [&](int id) {
    return wait_until([&] { return !pipeline.index("others").get(std::to_string(id)); }, kPatience);
  };

  database.execute(
      "alter policy seen on others using (id > 10); update others set name = 'new' where id = 1");
  EXPECT_TRUE(is_gone(1));
  database.execute("alter policy seen on others using (true)");
  pipeline.must("wait");
  pipeline.must("verify");

  database.execute("drop policy seen on others; update others set name = 'newer' where id = 2");
  EXPECT_TRUE(is_gone(2));
  const auto warns = [&] { return pipeline.status().at("warnings").dump() != "[]"; };
  EXPECT_TRUE(wait_until(warns, kPromised));
  database.execute("alter table others disable row level security");
  database.execute("alter table others enable row level security; create policy seen on others using (true)");
  pipeline.must("wait");
  pipeline.must("verify");
  if (testing::Test::HasFailure()) std::cout << program->err();
}

// A track by `team` leads to none of the rows without one. They were missing, and everything reported
// equality.
TEST(DroppedNotNull, RowsOfAPartitionOfNullsThatNoTrackLeadsToAreNotMissingInSilence) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  add_items_and_others(pipeline);
  database.execute(
      "create table players (id integer primary key, team integer not null, score integer); "
      "insert into players select i, i % 3, i from generate_series(1, 12) i; "
      "create view ranked as select id as _id, team, rank() over (partition by team order by score) as place "
      "from players");
  pipeline.add_index(
      "ranked", "public.ranked",
      track("public.players",
            {{"row", "team"}, {"keys", "select id from public.players where team = any($1)"}}));
  pipeline.apply();
  const std::unique_ptr<Program> program = pipeline.start();
  pipeline.must("wait");
  const auto warnings = [&] { return pipeline.status().at("warnings").dump(); };
  database.execute("alter table players alter score set not null; alter table items alter n drop not null");
  const auto notes = [&](const std::string& what) {
    return database.number("select count(*) from lockstep.index where definition like '%not null of column " +
                           what + "%'") == 1;
  };
  EXPECT_TRUE(wait_until([&] { return notes("score of table public.players"); }, kPromised));
  EXPECT_EQ(warnings(), "[]") << "more rows are refused, or no partition depends on it";

  database.execute("alter table players alter team drop not null");
  database.execute("insert into players values (100, null, 1)");
  const auto warns = [&] {
    return warnings().find("not null of column team of table public.players changed") != std::string::npos;
  };
  EXPECT_TRUE(wait_until(warns, kPromised)) << warnings();
  EXPECT_NE(pipeline.lockstep("wait", {"--timeout", "1s"}).exit_code, 0);
  if (testing::Test::HasFailure()) std::cout << program->err();
}

// PostgreSQL 16 prints columns of a view's only table without its name: here the applied text is of such a
// version, though the server is what it is.
class ReprintedDefinitions : public testing::Test {
 protected:
  ReprintedDefinitions() : pipeline_(database_) {
    add_items_and_others(pipeline_);
    database_.execute(
        "create view inner_view as select id, name from others; "
        "create or replace view others_view as select id as _id, name from inner_view");
    pipeline_.apply();
    pipeline_.catch_up();
  }

  /// Stores the definition of others_view as another version would have printed it.
  void print_otherwise(const std::string& text) {
    database_.execute(
        "with v as (select 'public.inner_view'::regclass::oid as oid), state as (select md5('f f ' || '" +
        text +
        "' || ' ' || string_agg(concat_ws(' ', quote_ident(attname), format_type(atttypid, atttypmod), "
        "attcollation::regcollation), ', ' order by attnum)) as sum from pg_attribute, v where attrelid = "
        "v.oid "
        "and attnum > 0) update lockstep.index set definition = (definition::jsonb || jsonb_build_object("
        "'version', 99, 'origin', 'another', "
        "'views', (definition::jsonb -> 'views') || jsonb_build_object('view public.inner_view', '" +
        text +
        "'), 'parts', (definition::jsonb -> 'parts') || jsonb_build_object('database', 'another', "
        "'view public.inner_view', (select sum from state))))::text where view = 'public.others_view'");
  }
  std::string warnings() { return pipeline_.status().at("warnings").dump(); }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
};

TEST_F(ReprintedDefinitions, AViewThatAnotherVersionPrintsOtherwiseIsNotAnother) {
  print_otherwise(" SELECT others.id, others.name FROM ONLY_WHITESPACE");
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("view public.inner_view")) << "a text that means nothing";
  print_otherwise(" SELECT others.id || 0, others.name FROM public.others;");
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("view public.inner_view"))
      << "a text that means something else";
  print_otherwise(" SELECT others.id, others.name FROM public.others;");  // as 15 does
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
  print_otherwise(" SELECT id, name FROM public.others;");  // as 16 does
  EXPECT_THAT(pipeline_.must("check"), Not(HasSubstr("changed since the last apply")));
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
  const std::unique_ptr<Program> program = pipeline_.start();
  EXPECT_TRUE(wait_until(
      [&] {
        return database_.value(
                   "select definition::jsonb ->> 'version' from lockstep.index where view = "
                   "'public.others_view'") != "99";
      },
      kPatience));
  EXPECT_EQ(warnings(), "[]");
  EXPECT_EQ(database_.number("select count(*) from lockstep.job"), 0);
  pipeline_.must("wait");
}

/// A view and one below it in a SQLite file, which are dropped and made otherwise.
class SqliteReplacedDefinitions : public testing::TestWithParam<const char*> {
 protected:
  SqliteReplacedDefinitions() : application_(file_), pipeline_("sqlite:" + file_.string()) {
    application_.execute(
        "pragma journal_mode = wal; create table others (id integer primary key, name text); "
        "insert into others with recursive n(i) as (select 1 union all select i + 1 from n where i < 50) "
        "select i, 'other ' || i from n; create view inner_view as select id, name from others; "
        "create view others_view as select id as _id, name from inner_view");
    make_view("name");
    pipeline_.add_index("others", "others_view", track("others"));
    pipeline_.apply();
    program_ = pipeline_.start();
    pipeline_.must("wait");
  }

  void TearDown() override {
    if (HasFailure()) std::cout << program_->err();
  }

  bool is_outer() const { return GetParam() == std::string("others_view"); }
  std::string named() const { return std::string("view ") + GetParam(); }
  void make_view(const std::string& name) {
    application_.execute(std::string("begin; drop view ") + GetParam() + "; create view " + GetParam() +
                         " as select id" + (is_outer() ? " as _id" : "") + ", " + name + " as name from " +
                         (is_outer() ? "inner_view" : "others") + "; commit");
  }
  void replace_and_render() {
    make_view("name || '!'");
    application_.execute("update others set name = 'again' where id <= 10");
    ASSERT_TRUE(wait_until(
        [&] { return pipeline_.index("others").get("10")->json.find("again!") != std::string::npos; },
        kPatience));
  }
  void stop() {
    program_->signal(SIGTERM);
    ASSERT_EQ(program_->wait(kPatience), 0);
  }
  std::string warnings() { return pipeline_.status().at("warnings").dump(); }

  const TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "application.db";
  SqliteApplication application_;
  PipelineUnderTest pipeline_;
  std::unique_ptr<Program> program_;
};

TEST_P(SqliteReplacedDefinitions, AreNamedWithinThePromisedTimeAndWaitIsNotContent) {
  make_view("name || '!'");
  EXPECT_TRUE(wait_until([&] { return warnings().find(named()) != std::string::npos; }, kPromised));
  const Completed waited = pipeline_.lockstep("wait", {"--timeout", "500ms"});
  EXPECT_EQ(waited.exit_code, 1);
  EXPECT_THAT(waited.err, HasSubstr("depend on definitions that have changed: " + named()));
  pipeline_.apply();
  pipeline_.must("wait");
  pipeline_.must("verify");
}

TEST_P(SqliteReplacedDefinitions, ADefinitionReplacedAndPutBackLeavesNoWrongDocuments) {
  replace_and_render();
  make_view("name");
  pipeline_.must("wait");
  pipeline_.must("verify");
  EXPECT_EQ(warnings(), "[]");
  EXPECT_THAT(program_->err(), HasSubstr(named() + " may have been another for a while"));
  EXPECT_EQ(pipeline_.lockstep("wait", {"--timeout", "500ms"}).exit_code, 0);
}

TEST_P(SqliteReplacedDefinitions, OneThatIsPutBackWhileNoServiceRunsIsComparedByApply) {
  replace_and_render();
  stop();
  make_view("name");
  EXPECT_EQ(pipeline_.lockstep("wait", {"--timeout", "500ms"}).exit_code, 1);
  EXPECT_THAT(pipeline_.must("check"), HasSubstr("may have been another for a while"));
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("it is compared with its view"));
  pipeline_.apply();
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
  pipeline_.catch_up();
  pipeline_.must("verify");
}

TEST_P(SqliteReplacedDefinitions, OneThatWasPutBackUnseenIsComparedByTheNextService) {
  replace_and_render();
  stop();
  make_view("name");
  program_ = pipeline_.start();
  pipeline_.must("wait");
  pipeline_.must("verify");
}

INSTANTIATE_TEST_SUITE_P(Of, SqliteReplacedDefinitions, testing::Values("others_view", "inner_view"),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Of, ReplacedDefinitions, testing::ValuesIn(kMembers),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lockstep::support
