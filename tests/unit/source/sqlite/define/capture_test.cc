// What the triggers capture of random statements: every row that differs afterwards, and nothing that changes
// what the application sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/sqlite/define/source_definition.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kTables = R"sql(
create table person (
  id integer primary key, nick text collate nocase unique, a, b, live integer, unread,
  g as (coalesce(a, '') || '/' || coalesce(b, '')) unique,
  mail text not null default 'nobody' unique on conflict replace
);
create unique index person_b on person (b) where live = 1;
create unique index person_lower on person (lower(b) desc) where typeof(b) = 'text' and live > 1;
create table pet (
  owner integer references person on delete cascade on update cascade deferrable initially deferred, name any,
  tag text, primary key (owner, name), unique (tag)
) without rowid;
create table thing (k primary key, v not null default 7 unique, other);
create table strict_one (id any primary key, person integer references person on delete set null, n int unique) strict;
create view people as select id as _id, nick, a, b, live, g, mail from person;
create view pets as select json_array(owner, name) as _id, owner, tag from pet;
create view things as select k as _id, v, other from thing;
create view strict_ones as select id as _id, person as _person, n from strict_one;
)sql";

std::vector<IndexConfig> indices() {
  return {
      sqlite_index("people", {sqlite_track("person")}),
      sqlite_index("pets", {sqlite_track("pet", "", "", "select value from json_each($1)")}),
      sqlite_index("things", {sqlite_track("thing")}),
      sqlite_index("strict_ones", {sqlite_track("strict_one"), sqlite_track("strict_one", "", "person")})};
}

class Statements {
 public:
  enum class Updates { kOfOneRow, kOfManyRows };

  Statements(unsigned seed, Updates updates) : updates_(updates), random_(seed) {}

  std::string next() {
    switch (pick(9)) {
      case 0:
      case 1:
      case 2:
        return "insert " + conflict() + "into " + row();
      case 3:
        if (updates_ == Updates::kOfManyRows) return "update " + conflict() + change();
        [[fallthrough]];
      case 4:
        return "update " + conflict() + change() + " where " + condition();
      case 5:
        return upsert();
      case 6:
        return "insert " + conflict() + "into thing select " + value() + ", v, other from thing where " +
               thing_condition() + " order by rowid";
      case 7:
        return "replace into " + row();
      default:
        return "delete from " + table() + " where " + condition_of_last();
    }
  }

  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

 private:
  std::string one_of(const std::vector<std::string>& texts) {
    return texts[static_cast<std::size_t>(pick(static_cast<int>(texts.size())))];
  }
  std::string conflict() {
    return one_of({"", "or replace ", "or replace ", "or ignore ", "or abort ", "or fail ", "or rollback "});
  }
  std::string value() {
    return one_of({"1", "2", "3", "1.0", "2.5", "'1'", "'a'", "'A'", "'b'", "x'31'", "null", "''"});
  }
  std::string number() { return one_of({"1", "2", "3", "4", "5", "6", "null"}); }
  std::string text() { return one_of({"'a'", "'A'", "'b'", "'B'", "'c'", "null"}); }
  std::string row() {
    switch (pick(6)) {
      case 4:
        return "thing (rowid, k, v) values (" + number() + ", " + value() + ", " + value() + ")";
      case 5:
        return "strict_one (oid, id, n) values (" + number() + ", " + value() + ", " + number() + ")";
      case 0:
        return "person (id, nick, a, b, live, unread, mail) values (" + number() + ", " + text() + ", " +
               value() + ", " + value() + ", " + number() + ", " + value() + ", " + text() + ")";
      case 1:
        return "pet values (" + number() + ", " + value() + ", " + text() + ")";
      case 2:
        return "thing values (" + value() + ", " + value() + ", " + value() + ")";
      default:
        return "strict_one values (" + value() + ", " + number() + ", " + number() + ")";
    }
  }
  std::string change() {
    switch (pick(4)) {
      case 0:
        last_ = "person";
        return "person set " + one_of({"id = " + number(), "nick = " + text(), "a = " + value(),
                                       "b = " + value() + ", live = " + number(), "unread = " + value(),
                                       "mail = " + text(), "rowid = " + number(), "id = id + 1"});
      case 1:
        last_ = "pet";
        return "pet set " + one_of({"owner = " + number(), "name = " + value(), "tag = " + text()});
      case 2:
        last_ = "thing";
        return "thing set " +
               one_of({"_rowid_ = " + number(), "k = " + value(), "v = " + value(), "other = " + value()});
      default:
        last_ = "strict_one";
        return "strict_one set " + one_of({"id = " + value(), "person = " + number(), "n = " + number()});
    }
  }
  std::string upsert() {
    return one_of({"insert into person (id, nick, b) values (" + number() + ", " + text() + ", " + value() +
                       ") on conflict (nick) do update set b = excluded.b, id = coalesce(excluded.id, id)",
                   "insert into thing values (" + value() + ", " + value() + ", " + value() +
                       ") on conflict (k) do update set v = excluded.v on conflict (v) do nothing"});
  }
  std::string table() { return last_ = one_of({"person", "pet", "thing", "strict_one"}); }
  std::string thing_condition() { return one_of({"k = " + value(), "v > " + value(), "1"}); }
  std::string condition() { return updates_ == Updates::kOfManyRows ? condition_of_last() : key_of_last(); }
  std::string key_of_last() {
    if (last_ == "person") return "id = " + number();
    if (last_ == "pet") return "owner = " + number() + " and name = " + value();
    return (last_ == "thing" ? "k = " : "id = ") + value();
  }
  std::string condition_of_last() {
    if (last_ == "person") return one_of({"id = " + number(), "nick = " + text(), "b = " + value(), "1"});
    if (last_ == "pet") return one_of({"owner = " + number(), "name = " + value()});
    if (last_ == "thing") return thing_condition();
    return one_of({"id = " + value(), "n > " + number(), "person = " + number()});
  }

  const Updates updates_;
  std::mt19937 random_;
  std::string last_ = "thing";
};

// What an outbox has of a row's key, by everything that the views read of the row.
const std::map<std::string, std::string> kRows = {
    {"person",
     "select quote(id), quote(nick), quote(a), quote(b), quote(live), quote(g), quote(mail) from person"},
    {"pet",
     "select quote((case typeof(owner) when 'text' then 't' || hex(owner) else quote(owner) end) || ',' || "
     "(case "
     "typeof(name) when 'text' then 't' || hex(name) when 'blob' then 'b' || hex(name) else quote(name) "
     "end)), "
     "quote(tag) from pet"},
    {"thing", "select quote(k), quote(v), quote(other) from thing"},
    {"strict_one", "select quote(id), quote(person), quote(n) from strict_one"},
};

std::set<std::string> rows_of(Application& application) {
  std::set<std::string> rows;
  for (const auto& [table, query] : kRows) {
    std::map<std::string, int> same;  // keys that are null may come more than once
    for (const std::vector<std::string>& row : application.rows(query)) {
      std::string text = table + ": " + row.front() + "\n";
      for (const std::string& value : row) text += value + "|";
      rows.insert(text + std::to_string(++same[text]));
    }
  }
  return rows;
}

// "table: key" of the rows that only one of the two has.
std::set<std::string> changed_keys(const std::set<std::string>& before, const std::set<std::string>& after) {
  std::vector<std::string> differing;
  std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                std::back_inserter(differing));
  std::set<std::string> keys;
  for (const std::string& row : differing) keys.insert(row.substr(0, row.find('\n')));
  return keys;
}

// Everything that an application can ask of its own tables and of its last statement. SQLite does not define
// the last rowid after an insert that failed, did nothing, became an update, or went into a table without
// any.
std::string seen_by(Application& application, const std::string& statement, int code) {
  sqlite3* const handle = application.handle();
  const bool has_inserted = code == SQLITE_OK && sqlite3_changes(handle) > 0 &&
                            statement.find("into pet") == std::string::npos &&
                            statement.find("on conflict") == std::string::npos &&
                            (statement.starts_with("insert") || statement.starts_with("replace"));
  std::string seen = std::to_string(code) + " " + std::to_string(sqlite3_changes(handle)) + " " +
                     (has_inserted ? std::to_string(sqlite3_last_insert_rowid(handle)) : "") + " " +
                     std::to_string(sqlite3_get_autocommit(handle));
  for (const auto& [table, query] : kRows) {
    for (const std::vector<std::string>& row :
         application.rows("select * from " + table + " order by 1, 2, 3")) {
      for (const std::string& value : row) seen += "\n" + value;
    }
  }
  return seen;
}

class CaptureTest : public testing::TestWithParam<Statements::Updates> {};

// Which row comes first in an update of several is SQLite's choice, and another one beside triggers. Where
// rows collide then, another one wins or fails. So only updates of one row can be compared with an untracked
// file.
TEST_P(CaptureTest, EveryRowThatDiffersIsCapturedAndTheApplicationNoticesNothing) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const bool is_compared = GetParam() == Statements::Updates::kOfOneRow;
  const ApplicationFolder folder;
  Application tracked(folder.file("tracked.db"));
  Application untracked(folder.file("untracked.db"));
  for (Application* each : {&tracked, &untracked}) {
    each->execute(kTables);
    each->execute(seed % 2 == 0 ? "pragma recursive_triggers = on" : "pragma recursive_triggers = off");
  }
  const Config config = sqlite_config(folder.file("tracked.db"), indices());
  SqliteSourceDefinition(config).apply({});
  Statements statements(seed, GetParam());
  int changes = 0;
  int failures = 0;
  std::string log;
  const auto both = [&](const std::string& statement) {
    log += statement + ";\n";
    const int code = tracked.attempt(statement);
    if (code != SQLITE_OK) ++failures;
    if (!is_compared) return;
    const int expected = untracked.attempt(statement);
    ASSERT_EQ(seen_by(tracked, statement, code), seen_by(untracked, statement, expected)) << log;
  };
  for (int transaction = 0; transaction < 400; ++transaction) {
    const std::set<std::string> before = rows_of(tracked);
    const std::string last = tracked.value("select coalesce(max(id), 0) from lockstep_outbox");
    log.clear();
    both("begin immediate");
    for (int n = statements.pick(4); n >= 0; --n) {
      if (statements.pick(8) == 0) both("savepoint s");
      ASSERT_NO_FATAL_FAILURE(both(statements.next()));
      if (statements.pick(8) == 0) both("rollback to s");
    }
    both(statements.pick(10) == 0 ? "rollback" : "commit");
    if (sqlite3_get_autocommit(tracked.handle()) == 0) both("rollback");  // a deferred reference was violated
    const std::set<std::string> expected = changed_keys(before, rows_of(tracked));
    changes += static_cast<int>(expected.size());
    const std::vector<std::string> outbox = tracked.captured(std::stoll(last));
    const std::set<std::string> captured(outbox.begin(), outbox.end());
    for (const std::string& key : expected) ASSERT_TRUE(captured.contains(key)) << key << "\n" << log;
  }
  EXPECT_GT(changes, 200);
  EXPECT_GT(failures, 50);
}

INSTANTIATE_TEST_SUITE_P(Updates, CaptureTest,
                         testing::Values(Statements::Updates::kOfOneRow, Statements::Updates::kOfManyRows),
                         [](const auto& parameter) {
                           return parameter.param == Statements::Updates::kOfOneRow ? "OfOneRow"
                                                                                    : "OfManyRows";
                         });

TEST(CaptureFilterTest, AnUpdateCountsWhenAColumnThatTheViewReadsHasChangedAtAll) {
  const ApplicationFolder folder;
  Application application(folder.file("app.db"));
  application.execute(
      "create table t (id integer primary key, name text collate nocase, n, unread, g as (n * 2));"
      "create view docs as select id as _id, name, g from t; insert into t values (1, 'a', 1, 1)");
  const Config config = sqlite_config(folder.file("app.db"), {sqlite_index("docs", {sqlite_track("t")})});
  SqliteSourceDefinition(config).apply({});
  EXPECT_THAT(application.captured_by("update t set unread = 2; update t set name = 'a', n = 1"), IsEmpty());
  EXPECT_THAT(application.captured_by("update t set name = 'A'"), ElementsAre("t: 1"));
  EXPECT_THAT(application.captured_by("update t set n = 1.0"), ElementsAre("t: 1")) << "2 and 2.0";
  EXPECT_THAT(application.captured_by("update t set id = 2"), ElementsAre("t: 1", "t: 2"));
  EXPECT_THAT(application.captured_by("update t set rowid = 3"), ElementsAre("t: 2", "t: 3"));
}

// Of tables without an integer primary key.
TEST(CaptureFilterTest, ARowThatIsReplacedByItsHiddenNumberIsCaptured) {
  const ApplicationFolder folder;
  Application application(folder.file("app.db"));
  application.execute(
      "create table t (k text primary key, name);"
      "create table post (body, post, oid);"  // has no key, and takes one of the number's names
      "create view docs as select k as _id, name from t; create view posts as select post as _id, body from "
      "post;"
      "insert into t (rowid, k) values (1, 'old'), (-1, 'less'); "
      "insert into post (rowid, post) values (1, 10), (2, 20)");
  const Config config = sqlite_config(
      folder.file("app.db"),
      {sqlite_index("docs", {sqlite_track("t")}), sqlite_index("posts", {sqlite_track("post", "", "post")})});
  SqliteSourceDefinition(config).apply({});
  EXPECT_THAT(application.captured_by("insert or replace into t (rowid, k) values (1, 'new')"),
              UnorderedElementsAre("t: 'new'", "t: 'old'"));
  EXPECT_THAT(application.captured_by("replace into t (oid, k) values ('1', 'third')"),
              UnorderedElementsAre("t: 'new'", "t: 'third'"));
  EXPECT_THAT(application.captured_by("replace into t (_rowid_, k) values (-1, 'fourth')"),
              UnorderedElementsAre("t: 'fourth'", "t: 'less'"));
  EXPECT_THAT(application.captured_by("update or replace t set rowid = -1 where k = 'third'"),
              ElementsAre("t: 'fourth'"));
  EXPECT_THAT(application.captured_by("insert into t (k) values ('fifth')"),
              ElementsAre("t: 'third'", "t: 'fifth'"))
      << "before an insert without a number SQLite gives -1 for it";
  EXPECT_THAT(application.captured_by("update t set name = 'A' where k = 'third'"),
              ElementsAre("t: 'third'"));
  EXPECT_THAT(application.captured_by("insert or replace into post (rowid, post) values (1, 11)"),
              UnorderedElementsAre("post: 10", "post: 11"));
  EXPECT_THAT(application.captured_by("update or replace post set _rowid_ = 2 where post = 11"),
              ElementsAre("post: 20"));
}

}  // namespace
}  // namespace lockstep
