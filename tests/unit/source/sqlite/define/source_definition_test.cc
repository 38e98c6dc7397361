// `check`, `plan`, `apply` and `remove` on a SQLite file, and what a migration of the application does to
// them.
#include "replicator/source/sqlite/define/source_definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "replicator/error.h"
#include "replicator/source/sqlite/define/differences.h"
#include "replicator/source/sqlite/session/exact_value.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* kBlog = R"sql(
create table users (id integer primary key, name text not null, email text unique);
create table posts (id integer primary key, user_id integer references users on delete set null, title text, hits);
create index posts_user on posts (user_id);
create view documents as
  select p.id as _id, p.user_id as _user_id, p.title, u.name as author from posts as p join users as u on u.id = p.user_id;
)sql";

const char* const kGolden = LOCKSTEP_SOURCE_DIR "/tests/unit/source/sqlite/define/golden/blog.sql";

// Without the comment at the top.
std::string golden() {
  std::ifstream file(kGolden);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return text.substr(text.find("\nCREATE ") + 1);
}

std::vector<std::string> in_lines(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) lines.push_back(to_line(finding));
  return lines;
}

class SqliteDefinitionTest : public testing::Test {
 protected:
  SqliteDefinitionTest()
      : application_(folder_.file("app.db")),
        config_(sqlite_config(
            folder_.file("app.db"),
            {sqlite_index("documents", {sqlite_track("posts"), sqlite_track("users", "_user_id")})})) {
    application_.execute(kBlog);
  }

  SqliteSourceDefinition definition() const { return SqliteSourceDefinition(config_); }
  void apply() const { definition().apply({}); }
  std::vector<std::string> planned() const {
    std::vector<std::string> objects;
    for (const PlanStep& step : definition().plan()) objects.push_back(step.object);
    return objects;
  }
  std::vector<std::string> checked() const { return in_lines(definition().check()); }
  /// What `check` says of the configuration with one more index.
  std::vector<std::string> checked_with(const IndexConfig& index) {
    config_.indices.push_back(index);
    const std::vector<std::string> lines = checked();
    config_.indices.pop_back();
    return lines;
  }
  std::vector<std::string> differences() const {
    SqliteConnection connection(config_.source);
    const SqliteSnapshot snapshot(connection, "a test");
    std::vector<std::string> texts;
    for (const SqliteDifference& difference : differences_from_applied(connection, config_.pipeline))
      texts.push_back(difference.text);
    return texts;
  }
  std::vector<std::string> mended() const {
    SqliteConnection connection(config_.source);
    return mend_triggers(connection, config_.pipeline);
  }
  std::vector<std::string> jobs() {
    return application_.column("select kind || ': ' || reason from lockstep_job order by id");
  }

  const ApplicationFolder folder_;
  Application application_;
  Config config_;
};

TEST_F(SqliteDefinitionTest, AFilledIndexBeginsWithAComparisonAndASweep) {
  SqliteSourceDefinition adopting(config_);
  adopting.note_filled({config_.indices.front().alias});
  std::string detail;
  for (const PlanStep& step : adopting.plan()) detail += step.detail + "\n";
  EXPECT_THAT(detail, HasSubstr("beginning with a comparison"));
  adopting.apply({});
  EXPECT_THAT(jobs(), ElementsAre("comparison: it has documents already", "sweep: it has documents already"));
  EXPECT_THAT(planned(), IsEmpty());
}

TEST_F(SqliteDefinitionTest, TheTriggersAreThoseOfTheGoldenFile) {
  apply();
  std::string triggers;
  for (const std::string& sql :
       application_.column("select sql from sqlite_schema where type = 'trigger' order by name"))
    triggers += (triggers.empty() ? "" : "\n") + sql + ";\n";
  EXPECT_EQ(triggers, golden());
}

// The last select's column counted for all of them, and the view was set aside for an _id that is no integer.
TEST_F(SqliteDefinitionTest, AUnionMayHaveIdsOfOtherTypesThanItsLastSelect) {
  application_.execute(
      "create view both as select 'user-' || id as _id, name from users union all select id, title from "
      "posts");
  config_.indices = {
      sqlite_index("both", {sqlite_track("posts"), sqlite_track("users", "", "'user-' || id")})};
  apply();
  EXPECT_EQ(application_.value("select id_type from lockstep_index"), "any");
}

TEST_F(SqliteDefinitionTest, AppliedAgainNothingIsLeftToDo) {
  EXPECT_THAT(planned(), Contains("migration 0001_schema"));
  EXPECT_EQ(application_.value("select count(*) from sqlite_schema where name like 'lockstep%'"), "0");
  std::vector<std::string> done;
  const std::vector<std::string> plan = planned();
  definition().apply({[&](const PlanStep& step) { done.push_back(step.object); }, {}});
  EXPECT_EQ(done, plan);
  EXPECT_THAT(planned(), IsEmpty());
  EXPECT_THAT(jobs(), ElementsAre("backfill: new index"));
  EXPECT_THAT(checked(), IsEmpty());
  EXPECT_THAT(differences(), IsEmpty());
  EXPECT_THAT(mended(), IsEmpty());
}

TEST_F(SqliteDefinitionTest, RemoveLeavesNoTrace) {
  const auto schema = [&] {
    return application_.rows("select type, name, tbl_name, sql from sqlite_schema");
  };
  const auto settings = [&] {
    return application_.rows("select * from pragma_journal_mode, pragma_user_version, pragma_application_id");
  };
  const auto schema_before = schema();
  const auto settings_before = settings();
  Config another = config_;
  another.pipeline = "another";
  apply();
  SqliteSourceDefinition(another).apply({});
  definition().remove({});
  EXPECT_NE(schema(), schema_before) << "the other pipeline stays";
  EXPECT_THAT(SqliteSourceDefinition(another).plan(), IsEmpty());
  EXPECT_EQ(definition().identity(), "");
  SqliteSourceDefinition(another).remove({});
  EXPECT_EQ(schema(), schema_before);
  EXPECT_EQ(settings(), settings_before);
  EXPECT_THAT(definition().removal_plan(), IsEmpty());
  apply();
  EXPECT_THAT(planned(), IsEmpty());
}

TEST_F(SqliteDefinitionTest, AChangedTrackWritesItsIndexAgainUnderCapturesOfNewIds) {
  apply();
  application_.execute("insert into users values (1, 'Ann', null)");
  config_.indices.front().tracks.back() = sqlite_track(
      "users", "", "", "select id from posts where user_id in (select value from json_each($1));");
  config_.indices.front().tracks.front() = sqlite_track("posts", "", "id + 0");
  apply();
  EXPECT_THAT(jobs(), ElementsAre("backfill: the tracks have changed", "sweep: the tracks have changed"));
  EXPECT_EQ(application_.value("select max(id) from lockstep_capture"), "3");
  EXPECT_THAT(application_.captured_by("insert into posts values (5, 1, 'Title', 0)"),
              ElementsAre("posts: 5"));
  EXPECT_THAT(planned(), IsEmpty());
}

// --- what `check` finds ---

TEST_F(SqliteDefinitionTest, AChangedTrackOfOneIndexLeavesTheOthersThatFollowItsTable) {
  application_.execute("create view names as select id as _id, name from users");
  config_.indices.push_back(sqlite_index("names", {sqlite_track("users")}));
  definition().apply({});
  config_.indices.front().tracks.back() = sqlite_track("users", "author", "name");
  std::vector<std::string> changed;
  for (const PlanStep& step : definition().plan()) {
    if (step.object.starts_with("index ")) changed.push_back(step.object + ": " + step.detail);
  }
  EXPECT_THAT(changed, ElementsAre(HasSubstr("index documents: the tracks have changed")));
}

TEST_F(SqliteDefinitionTest, TriggersThatLeftOutWhatAUsingJoinsByAreMadeAgainAndTheIndexCompared) {
  application_.execute(
      "create table written (id integer primary key, name_id int); create table named (name_id int, id "
      "integer "
      "primary key); create view docs as select written.id as _id from written join named using (name_id)");
  config_.indices = {sqlite_index(
      "docs", {sqlite_track("written"), sqlite_track("named", "", "", "select value from json_each($1)")})};
  definition().apply({});
  // As an earlier lockstep made it.
  application_.execute(
      "drop trigger lockstep_1_update; create trigger lockstep_1_update after update on written when old.id "
      "is "
      "not new.id begin select 1; end; delete from lockstep_job");
  SqliteConnection connection(config_.source);
  EXPECT_THAT(mend_triggers(connection, config_.pipeline),
              ElementsAre(HasSubstr("made the triggers of table written again")));
  EXPECT_THAT(application_.column("select kind from lockstep_job order by kind"),
              ElementsAre("comparison", "sweep"));
  EXPECT_THAT(application_.captured_by("insert into written values (1, 1); update written set name_id = 2"),
              ElementsAre("written: 1", "written: 1"));
}

TEST_F(SqliteDefinitionTest, CheckNamesWhatCannotBeFollowed) {
  application_.execute(
      "create table keyless (a); create view keyless_view as select a as _id from keyless;"
      "create virtual table search using fts5(body);"
      "create view searched as select rowid as _id, body from search;"
      "create view counted as select id as _id, (select count(*) from users) as users from posts;"
      "create view own as select id as _id, own_function(title) as t from posts;"
      "create view clocked as select id as _id, date('now') as today from posts;"
      "create view doubled as select 1 as _id from posts; insert into posts (id) values (1), (2)");
  EXPECT_THAT(checked_with(sqlite_index("keyless_view", {sqlite_track("keyless")})),
              Contains(HasSubstr("table keyless has no primary key")));
  EXPECT_THAT(checked_with(sqlite_index("searched", {sqlite_track("search")})),
              Contains(AllOf(HasSubstr("search is a virtual table"), HasSubstr("filled from"))));
  EXPECT_THAT(checked_with(sqlite_index("counted", {sqlite_track("posts")})),
              Contains(HasSubstr("view counted reads table users, which no track covers")));
  EXPECT_THAT(checked_with(sqlite_index("own", {sqlite_track("posts")})),
              Contains(AllOf(HasSubstr("own_function"), HasSubstr("no function"))));
  EXPECT_THAT(checked_with(sqlite_index("clocked", {sqlite_track("posts")})),
              Contains(HasSubstr("calls date")));
  EXPECT_THAT(checked_with(sqlite_index("doubled", {sqlite_track("posts")})),
              Contains(HasSubstr("_id of view doubled is not unique")));
  EXPECT_THAT(checked_with(sqlite_index("nobodys", {sqlite_track("posts")})),
              Contains(HasSubstr("there is no view nobodys")));
  application_.execute("pragma journal_mode = delete");
  EXPECT_THAT(checked(), Contains(HasSubstr("journal_mode = wal")));
}

TEST_F(SqliteDefinitionTest, AViewThatRanksOrLimitsItsRowsIsNamedUntilKeysLeadToTheOthers) {
  application_.execute(
      "create view ranked as select id as _id, rank() over (partition by user_id order by hits) as place "
      "from "
      "posts; create view best as select id as _id, title from posts order by hits limit 3; "
      "create view latest as select u.id as _id, (select p.title from posts p where p.user_id = u.id order "
      "by "
      "p.id desc limit 1) as title, (select sum(over) from (select 1 as over)) as one from users u");
  EXPECT_THAT(checked_with(sqlite_index("ranked", {sqlite_track("posts")})),
              Contains(HasSubstr("view ranked has a window function")));
  EXPECT_THAT(checked_with(sqlite_index("best", {sqlite_track("posts")})),
              Contains(HasSubstr("view best has limit")));
  TrackConfig by_user = sqlite_track("posts");
  by_user.row = "user_id";
  EXPECT_THAT(checked_with(sqlite_index("latest", {sqlite_track("users"), by_user})), IsEmpty());
  by_user.keys = "select id from posts where user_id in (select value from json_each($1))";
  TrackConfig by_nobody = sqlite_track("posts");
  by_nobody.row = "case when user_id is null then 1 end";
  by_nobody.keys = "select id from posts where user_id is null and $1 is not null";
  EXPECT_THAT(checked_with(sqlite_index("ranked", {sqlite_track("posts"), by_user, by_nobody})), IsEmpty());
}

TEST_F(SqliteDefinitionTest, ALimitOrAWindowBelowTheViewIsNamedWithTheTables) {
  application_.execute(
      "create view places as select id, user_id, rank() over (partition by user_id order by hits) as place "
      "from "
      "posts; "
      "create view best as select u.id as _id from users u where u.id in (select user_id from posts order by "
      "hits limit 1); "
      "create view joined as select u.id as _id, x.n from users u join (select p.user_id, sum(p.hits) n from "
      "posts p group by p.user_id order by n limit 2) x on x.user_id = u.id; "
      "create view first as with top as (select id from users order by id limit 2) select p.id as _id from "
      "posts p join top on top.id = p.user_id; "
      "create view nested as select p.id as _id, r.place from posts p join places r on r.id = p.id");
  TrackConfig by_user = sqlite_track("posts");
  by_user.row = "user_id";
  by_user.keys = "select id from users where id in (select value from json_each($1))";
  for (const char* const view : {"best", "joined"}) {
    EXPECT_THAT(checked_with(sqlite_index(view, {sqlite_track("users"), by_user})),
                Contains(HasSubstr(std::string("view ") + view + " has limit: ")))
        << view;
    TrackConfig every_user = sqlite_track("users");
    every_user.keys = "select id from users where $1 is not null";
    TrackConfig every = sqlite_track("posts");
    every.keys = "select id from users where $1 is not null";
    EXPECT_THAT(checked_with(sqlite_index(view, {sqlite_track("users"), every_user, every})), IsEmpty())
        << view;
  }
  TrackConfig by_own = sqlite_track("users");
  by_own.keys = "select id from posts where user_id in (select value from json_each($1))";
  EXPECT_THAT(checked_with(sqlite_index("first", {sqlite_track("posts"), by_own})),
              Contains(HasSubstr("view first has limit: ")));
  TrackConfig by_hits = sqlite_track("posts");
  by_hits.row = "hits";
  by_hits.keys = "select id from posts where hits in (select value from json_each($1))";
  EXPECT_THAT(checked_with(sqlite_index("nested", {sqlite_track("posts"), by_hits})),
              Contains(HasSubstr("view nested has a window function")));
}

TEST_F(SqliteDefinitionTest, ATableThatIsReadOnceMoreWithoutAnEqualityIsNamed) {
  application_.execute(
      "create view compared as select p.id as _id, (select count(*) from posts q where q.hits > p.hits) as "
      "place "
      "from posts p");
  EXPECT_THAT(checked_with(sqlite_index("compared", {sqlite_track("posts")})),
              Contains(HasSubstr("view compared reads posts in a place from which no equality leads")));
  TrackConfig every = sqlite_track("posts");
  every.keys = "select id from posts where $1 is not null";
  EXPECT_THAT(checked_with(sqlite_index("compared", {sqlite_track("posts"), every})), IsEmpty());
}

TEST_F(SqliteDefinitionTest, AColumnOfJsonThatHoldsPlainTextIsNamedWithADocumentAndTheRemedy) {
  application_.execute(
      "insert into users values (1, 'ann', 'a'); insert into posts values (7, 1, 'plain', 0)");
  config_.indices.front().json_columns = {"title"};
  const auto said = [&](Finding::Severity severity, const char* numbers) {
    for (const Finding& finding : definition().check()) {
      const std::string line = to_line(finding);
      if (line.find("column title of view documents, which `json` names, holds no JSON") == std::string::npos)
        continue;
      EXPECT_EQ(finding.severity, severity);
      EXPECT_THAT(line, AllOf(HasSubstr(numbers), HasSubstr("such as 7"), HasSubstr("json_quote(title)")));
      return true;
    }
    return false;
  };
  EXPECT_TRUE(said(Finding::Severity::kError, "1 of 1"));
  application_.execute("insert into posts values (8, 1, '[1]', 0)");
  EXPECT_TRUE(said(Finding::Severity::kWarning, "1 of 2"));
  application_.execute("update posts set title = '{}' where id = 7");
  EXPECT_FALSE(said(Finding::Severity::kWarning, ""));
}

TEST_F(SqliteDefinitionTest, AMissingNameIsAnsweredByTheNearestOneAndASchemaByNone) {
  config_.indices = {sqlite_index("main.documents", {}), sqlite_index("document", {}),
                     sqlite_index("documents", {sqlite_track("Post"), sqlite_track("main.users")})};
  EXPECT_THAT(in_lines(definition().check()),
              AllOf(Contains(AllOf(HasSubstr("no view main.documents"), HasSubstr("write \"documents\""))),
                    Contains(AllOf(HasSubstr("no view document"), HasSubstr("did you mean \"documents\"?"))),
                    Contains(AllOf(HasSubstr("no table Post"), HasSubstr("did you mean \"posts\"?"))),
                    Contains(AllOf(HasSubstr("no table main.users"), HasSubstr("write \"users\"")))));
}

TEST_F(SqliteDefinitionTest, AMissingViewWhoseFileLiesNextToTheConfigurationIsCreatedFirst) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "lockstep-view-file";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "document.sql") << "create view document as select 1 as _id;";
  config_.file = folder / "shop.toml";
  config_.indices = {sqlite_index("document", {})};
  EXPECT_THAT(in_lines(definition().check()),
              Contains(AllOf(HasSubstr("there is no view document; create it first: sqlite3 -bail "),
                             HasSubstr((folder / "document.sql").string()), Not(HasSubstr("did you mean")))));
  std::filesystem::remove_all(folder);
}

TEST_F(SqliteDefinitionTest, AViewThatCannotBeReadHasItsOwnReasonBeforeTheFirstApply) {
  application_.execute(
      "create view no_column as select id as _id, nix from users;"
      "create view no_collation as select id as _id, (select title from posts order by title collate ours) "
      "as t "
      "from users");
  config_.indices = {sqlite_index("no_column", {sqlite_track("users")}),
                     sqlite_index("no_collation", {sqlite_track("users"), sqlite_track("posts")})};
  const std::vector<std::string> lines = in_lines(definition().check());
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("no such column: nix"), HasSubstr("fix the view"))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("no such collation sequence: ours"),
                                    HasSubstr("a SQLite of its own"))));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("lockstep apply"))));
}

TEST_F(SqliteDefinitionTest, AColumnOfBlobsIsRefusedBecauseNoQueryWouldFindThem) {
  application_.execute(
      "create table owners (id blob primary key); create table pets (id integer primary key, owner blob);"
      "create view owned as select p.id as _id, p.owner as _owner from pets p join owners o on o.id = "
      "p.owner;"
      "insert into owners values (x'01')");
  IndexConfig index = sqlite_index("owned", {sqlite_track("pets"), sqlite_track("owners", "_owner")});
  EXPECT_THAT(checked_with(index), Contains(HasSubstr("column id of table owners holds blobs")));
  index.tracks.back() = sqlite_track(
      "owners", "", "", "select id from pets where lower(hex(owner)) in (select value from json_each($1))");
  config_.indices = {index};
  EXPECT_NO_THROW(apply());
}

// Otherwise the first change of a row led nowhere, and "no errors" came before it.
TEST_F(SqliteDefinitionTest, AKeyOfSeveralColumnsThatNobodyMakesAnIdOfIsRefused) {
  application_.execute(
      "create table pairs (a, \"b c\", primary key (a, \"b c\")) without rowid; "
      "create view pair_documents as select json_array(a, \"b c\") as _id, a from pairs");
  config_.indices = {sqlite_index("pair_documents", {sqlite_track("pairs")})};
  EXPECT_THAT(checked(), Contains(AllOf(HasSubstr("table pairs has several columns"),
                                        HasSubstr("row = 'json_array(\"a\", \"b c\")'"))));
  EXPECT_THAT([&] { apply(); }, ThrowsMessage<UsageError>(HasSubstr("several columns")));
  config_.indices[0].tracks[0].row = "json_array(\"a\", \"b c\")";
  EXPECT_THAT(checked(), IsEmpty());
  apply();
}

TEST_F(SqliteDefinitionTest, AFileOfRqliteIsRefused) {
  std::ofstream(folder_.file("raft.db")) << "a log";
  EXPECT_THAT(checked(), ElementsAre(HasSubstr("belongs to rqlite")));
  EXPECT_THAT([&] { apply(); }, ThrowsMessage<UsageError>(HasSubstr("belongs to rqlite")));
}

TEST_F(SqliteDefinitionTest, CheckFindsAScanOnceItMatters) {
  EXPECT_THAT(checked(), IsEmpty());
  application_.execute(
      "insert into users values (1, 'Ann', null);"
      "with recursive i (n) as (select 1 union all select n + 1 from i where n < 3000) "
      "insert into posts select n, 1, 'Title', 0 from i; drop index posts_user;"
      "insert into users values (2, 'Bo', null); update posts set user_id = 2 where id > 2");
  EXPECT_THAT(checked(), Contains(AllOf(HasSubstr("finding the documents"), HasSubstr("create an index"),
                                        Not(HasSubstr("lockstep_value")))));
}

TEST_F(SqliteDefinitionTest, WhatDoesNotFitChangesNothing) {
  config_.indices.front().tracks.front().row = "no_such_column";
  EXPECT_THAT([&] { apply(); }, ThrowsMessage<UsageError>(HasSubstr("no_such_column")));
  config_.indices.front().tracks.front().row = "";
  config_.indices.front().tracks.back() = sqlite_track("users", "", "", "select 1, 2 from json_each($1)");
  EXPECT_THAT([&] { apply(); }, ThrowsMessage<UsageError>(HasSubstr("has 2 columns")));
  EXPECT_EQ(application_.value("select count(*) from sqlite_schema where name like 'lockstep%'"), "0");
}

// --- what the application does to its schema ---

TEST_F(SqliteDefinitionTest, AMigrationThatDropsTheTriggersIsNamedAndMended) {
  application_.execute(
      "insert into users values (1, 'Ann', null); insert into posts values (1, 1, 'One', 0)");
  apply();
  application_.execute(
      "delete from lockstep_job; pragma foreign_keys = off; pragma legacy_alter_table = on; begin;"
      "create table new_posts (id integer primary key, user_id integer, title text, hits, slug text unique);"
      "insert into new_posts select *, 'slug' || id from posts; drop table posts;"
      "alter table new_posts rename to posts; commit; pragma legacy_alter_table = off");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("triggers of table posts are gone")));
  EXPECT_THAT(checked(), Contains(HasSubstr("triggers of table posts are gone")));
  EXPECT_THAT(mended(), ElementsAre(HasSubstr("triggers of table posts")));
  EXPECT_THAT(jobs(), ElementsAre(HasSubstr("comparison: triggers of posts"), HasSubstr("sweep")));
  EXPECT_THAT(differences(), IsEmpty());
  EXPECT_THAT(mended(), IsEmpty());
  EXPECT_THAT(application_.captured_by("insert or replace into posts values (2, 1, 'Two', 0, 'slug1')"),
              ElementsAre("posts: 1", "posts: 2"));
}

// It names every column of which a change counts, and nothing else in SQLite says that one has changed.
TEST_F(SqliteDefinitionTest, AColumnThatATriggerNamesCanBeDroppedOnceTheViewDoesWithout) {
  apply();
  const std::string drop = "alter table posts drop column title";
  ASSERT_EQ(application_.attempt(drop), SQLITE_ERROR) << "the view reads it";
  application_.execute(
      "drop view documents; create view documents as select p.id as _id, p.user_id as _user_id, "
      "u.name as author from posts as p join users as u on u.id = p.user_id");
  ASSERT_EQ(application_.attempt(drop), SQLITE_ERROR);
  EXPECT_THAT(sqlite3_errmsg(application_.handle()), HasSubstr("error in trigger lockstep_"));
  EXPECT_THAT(mended(), Contains(HasSubstr("posts"))) << "as a running service does";
  application_.execute(drop);
  EXPECT_THAT(application_.captured_by("insert into posts values (1, null, 0)"), ElementsAre("posts: 1"));
}

// Why its triggers stand in the way of `drop column`: each way to compare a column's values does.
TEST_F(SqliteDefinitionTest, NoTriggerCanCompareAColumnWithoutKeepingItFromBeingDropped) {
  const std::vector<std::string> triggers = {
      "after update on t when old.c is not new.c begin select 1; end",
      "after update on t begin select 1 where old.c is not new.c; end",
      "before insert on t begin select 1 from t where \"c\" = new.c; end",
      "after update on t when (select new.c) is not (select old.c) begin select 1; end"};
  for (const std::string& trigger : triggers) {
    application_.execute("drop table if exists t; create table t (id integer primary key, c)");
    application_.execute("create trigger looks " + trigger);
    EXPECT_EQ(application_.attempt("alter table t drop column c"), SQLITE_ERROR) << trigger;
  }
}

TEST_F(SqliteDefinitionTest, ANewUniqueIndexAndADroppedOneMakeOtherTriggers) {
  apply();
  application_.execute(
      "create unique index posts_title on posts (title); insert into posts values (1, null, 'One', 0)");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("table posts")));
  EXPECT_THAT(mended(), Not(IsEmpty()));
  EXPECT_THAT(application_.captured_by("replace into posts values (2, null, 'One', 0)"),
              ElementsAre("posts: 1", "posts: 2"));
  application_.execute("drop index posts_title");
  EXPECT_THAT(mended(), Not(IsEmpty()));
  EXPECT_EQ(
      application_.value("select count(*) from sqlite_schema where type = 'trigger' and tbl_name = 'posts'"),
      "3");
  EXPECT_THAT(differences(), IsEmpty());
}

TEST_F(SqliteDefinitionTest, ApplyWritesAnewWhatTriggersThatDoNotFitMayHaveMissed) {
  apply();
  application_.execute(
      "delete from lockstep_job; insert into posts values (1, null, 'One', 0); create unique index "
      "posts_title on "
      "posts (title); replace into posts values (2, null, 'One', 0)");
  apply();
  EXPECT_THAT(jobs(), ElementsAre(HasSubstr("backfill"), HasSubstr("sweep")));
  application_.execute("delete from lockstep_job");
  config_.replication.max_outbox_size = 1'000'000;
  apply();
  EXPECT_THAT(jobs(), IsEmpty()) << "triggers that begin to look at a limit have missed nothing";
}

TEST_F(SqliteDefinitionTest, AReplacedViewAndALostTableAreNamed) {
  apply();
  application_.execute(
      "drop view documents; create view documents as select p.id as _id, user_id as _user_id, "
      "title, 1 as one_more from posts as p join users as u on u.id = p.user_id");
  EXPECT_THAT(differences(), Contains(AllOf(HasSubstr("documents"), HasSubstr("lockstep apply"))));
  apply();
  EXPECT_THAT(differences(), IsEmpty());
  EXPECT_THAT(jobs(), ElementsAre(HasSubstr("backfill"), HasSubstr("sweep")));
  application_.execute("pragma foreign_keys = off; drop view documents; drop table users");
  EXPECT_THAT(differences(), AllOf(Contains(HasSubstr("table users is gone")),
                                   Contains(HasSubstr("view documents of index documents is gone"))));
}

TEST_F(SqliteDefinitionTest, ALimitedOutboxLeavesChangesOutWhenItIsFull) {
  config_.replication.max_outbox_size = 400;
  apply();
  application_.execute(
      "with recursive i (n) as (select 1 union all select n + 1 from i where n < 30) "
      "insert into posts select n, null, 'Title', 0 from i");
  EXPECT_EQ(application_.value("select left_out from lockstep_outbox_limit"), "1");
  EXPECT_EQ(application_.value("select count(*) from lockstep_outbox"),
            std::to_string(std::stoi(application_.value("select max_rows from lockstep_outbox_limit")) + 1));
  EXPECT_THAT(application_.captured_by("delete from posts"), IsEmpty());
  EXPECT_THAT(differences(), IsEmpty());
}

TEST_F(SqliteDefinitionTest, ADocumentThatAChangeTakesOutOfTheViewIsStillFound) {
  add_exact_value_function(application_.handle());
  apply();
  const std::string resolver =
      application_.value("select resolver from lockstep_track where resolver is not null");
  application_.execute(
      "pragma foreign_keys = off; insert into users values (1, 'Ann', null);"
      "insert into posts values (7, 1, 'One', 0); delete from users");
  EXPECT_EQ(application_.value("select count(*) from documents"), "0");
  std::string query = resolver;
  for (std::size_t at = query.find("?1"); at != std::string::npos; at = query.find("?1"))
    query.replace(at, 2, "'[1]'");
  EXPECT_THAT(application_.column(query), ElementsAre("7"));
}

}  // namespace
}  // namespace lockstep
