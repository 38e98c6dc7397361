// Keys that SQLite takes and that JSON, json_each() or Elasticsearch do not: each leads to its own document,
// or to an error that names it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "replicator/error.h"
#include "replicator/source/sqlite/define/source_definition.h"
#include "replicator/source/sqlite/read/source.h"
#include "tests/support/eventually.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

constexpr std::int64_t kMuch = 1'000'000;

class SqliteOddKeysTest : public testing::Test {
 protected:
  /// Applies a pipeline of one index over `ddl`, whose view is `docs`.
  void apply(const std::string& ddl, std::vector<TrackConfig> tracks) {
    application_.emplace(file_);
    application_->execute(ddl);
    const Config config = sqlite_config(file_, {sqlite_index("docs", std::move(tracks))});
    SqliteSourceDefinition(config).apply({});
    source_ = std::make_unique<SqliteSource>(config);
    ASSERT_TRUE(source_->lead().try_lead());
    epoch_ = source_->lead().raise_epoch({}, {source_->lead().identity().place, {}});
  }
  const AppliedIndex& docs() const { return source_->pipeline().indices.at(0); }

  struct Document {
    std::string json;
    std::string fault;
    bool operator==(const Document&) const = default;
  };
  using Documents = std::map<std::string, Document>;  // by id; "none": the view has no such document
  static DocumentSink sink_to(Documents& documents) {
    return [&](const RenderedDocument& document) {
      documents[std::string(document.id)] = {std::string(document.json.value_or("none")),
                                             std::string(document.fault)};
    };
  }

  /// What the changes of these statements lead to.
  Documents changed_by(const std::string& statements) {
    const Position before = source_->changes().begin(epoch_)->position();
    application_->execute(statements);
    const auto transaction = source_->changes().begin(epoch_);
    const Changes changes = transaction->read_changes(before, {kMuch, std::nullopt});
    std::optional<DocumentIds> ids = transaction->resolve(docs(), changes.captured, {kMuch});
    Documents documents;
    if (!ids) throw std::runtime_error("too many ids");
    EXPECT_TRUE(transaction->render(docs(), *ids, kMuch, sink_to(documents)).empty());
    return documents;
  }

  /// All of the view, in pages of one.
  Documents all() {
    Documents documents;
    const auto snapshot = source_->changes().read();
    std::optional<DocumentId> after;
    for (bool end = false; !end;) {
      const ViewPageEnd page = snapshot->render_page(docs(), after, 1, kMuch, sink_to(documents));
      end = page.end;
      if (page.last) after = page.last;
    }
    return documents;
  }

  const ApplicationFolder folder_;
  const std::filesystem::path file_ = folder_.file("app.db");
  std::optional<Application> application_;
  std::unique_ptr<SqliteSource> source_;
  Epoch epoch_;
};

const char* const kUntyped =
    "create table t (k primary key, name); create view docs as select k as _id, name from t";
const char* const kOddKeys =
    "insert into t values ('a' || char(0) || 'b', 'nul'), (9e999, 'infinite'), (-9e999, 'negative'), "
    "(cast(x'eda080' as text), 'surrogate'), (cast(x'fe41' as text), 'not UTF-8'), ('', 'empty'), "
    "(char(1) || 't61', 'marked'), (1, 'integer'), (2.5, 'real')";
const std::map<std::string, std::string> kNamesOfOddKeys = {{"a\0b"s, "nul"},
                                                            {"Infinity", "infinite"},
                                                            {"-Infinity", "negative"},
                                                            {"\xed\xa0\x80", "surrogate"},
                                                            {"\xfe"
                                                             "A",
                                                             "not UTF-8"},
                                                            {"", "empty"},
                                                            {"\x01t61", "marked"},
                                                            {"1", "integer"},
                                                            {"2.5", "real"}};

// Of the key with NUL the part before it was looked for, and the document was missing without a word.
TEST_F(SqliteOddKeysTest, AChangeLeadsToTheDocumentOfItsOwnRowWhateverTheKeyIs) {
  apply(kUntyped, {sqlite_track("t")});
  std::map<std::string, Document> expected;
  for (const auto& [id, name] : kNamesOfOddKeys) expected[id] = {"{\"name\":\"" + name + "\"}", ""};
  EXPECT_EQ(changed_by(kOddKeys), expected);
  EXPECT_EQ(all(), expected);
  for (auto& [id, document] : expected) document.json = "none";
  EXPECT_EQ(changed_by("delete from t"), expected);
}

TEST_F(SqliteOddKeysTest, SoItDoesThroughAColumnAndThroughAnExpression) {
  const std::string users =
      "create table u (k primary key, name); create table t (id integer primary key, owner); "
      "create view docs as select t.id as _id, t.owner as _owner, u.name from t join u on u.k = t.owner; ";
  apply(users, {sqlite_track("t"), sqlite_track("u", "_owner")});
  std::string odd = kOddKeys;
  odd.replace(odd.find("into t"), 6, "into u");
  application_->execute(odd + "; insert into t (owner) select k from u");
  EXPECT_EQ(changed_by("update u set name = name || '!'").size(), kNamesOfOddKeys.size());
}

TEST_F(SqliteOddKeysTest, AnExpressionSeesTheValueThatTheRowHas) {
  apply(
      "create table t (a, b, name, primary key (a, b)); "
      "create view docs as select a || b as _id, name from t",
      {sqlite_track("t", {}, "a || b")});
  EXPECT_EQ(changed_by("insert into t values ('x' || char(0), cast(x'fe' as text), 'odd')"),
            (Documents{{"x\0\xfe"s, {"{\"name\":\"odd\"}", ""}}}));
}

// A page of what is due had U+FFFD in its place.
TEST_F(SqliteOddKeysTest, ARepairReachesTheDocumentWhateverTheKeyIs) {
  apply(kUntyped, {sqlite_track("t")});
  std::vector<FoundDocument> wanted;
  std::set<std::string> expected;
  for (const auto& [id, name] : kNamesOfOddKeys) {
    wanted.push_back({{id}, ""});
    expected.insert(id);
  }
  const auto repair = source_->changes().begin_repair();
  repair->add_repair(docs(), wanted, {.reason = "a test"});
  ASSERT_EQ(repair->commit().due.size(), 1U);
  std::set<std::string> listed;
  const NextDue due = source_->changes().begin(epoch_)->next_due(docs().id, {});
  ASSERT_TRUE(due.page);
  for (const DocumentId& id : due.page->ids) listed.insert(id.text);
  EXPECT_EQ(listed, expected);
}

TEST_F(SqliteOddKeysTest, ABlobIsAFaultOfItsOwnDocumentAndTheOthersGoOn) {
  apply(kUntyped, {sqlite_track("t")});
  const Documents changed = changed_by("insert into t values (x'31ff', 'blob'), ('good', 'one')");
  EXPECT_THAT(changed.at("31ff").fault, HasSubstr("lower(hex("));
  EXPECT_EQ(changed.at("good"), (Document{"{\"name\":\"one\"}", ""}));
  EXPECT_EQ(all(), changed);
}

TEST_F(SqliteOddKeysTest, AQueryOfTheConfigurationThatCannotBeAskedForNulSaysSo) {
  apply("create table t (k primary key, name); create view docs as select k as _id, name from t",
        {sqlite_track("t", {}, {}, "select value from json_each($1)")});
  EXPECT_EQ(
      changed_by("insert into t values (cast(x'fe41' as text), 'not UTF-8'), (9e999, 'infinite')").size(),
      2U);
  EXPECT_THAT([&] { changed_by("insert into t values ('a' || char(0) || 'b', 'nul')"); },
              ThrowsMessage<ViewError>(HasSubstr("NUL")));
}

// It ended the service for all indices, at each start again.
TEST_F(SqliteOddKeysTest, ARowOfTheOutboxThatNoTriggerWroteCountsAsAChangeOfEverything) {
  apply(
      "create table t (a, b, primary key (a, b)); create view docs as select json_array(a, b) as _id, a from "
      "t",
      {sqlite_track("t", {}, "json_array(a, b)")});
  const Position before = source_->changes().begin(epoch_)->position();
  application_->execute(
      "insert into lockstep_outbox (capture, value) select id, 'txyz' from lockstep_capture");
  const auto transaction = source_->changes().begin(epoch_);
  const Changes changes = transaction->read_changes(before, {kMuch, std::nullopt});
  ASSERT_EQ(changes.captured.size(), 1U);
  EXPECT_TRUE(changes.captured[0].everything);
  EXPECT_THAT([&] { transaction->resolve(docs(), changes.captured, {kMuch}); },
              ThrowsMessage<ViewError>(HasSubstr("no trigger")));
}

TEST_F(SqliteOddKeysTest, TheKeyOfSeveralColumnsLeadsToTheJsonArrayOfThem) {
  apply(
      "create table t (a, b, primary key (a, b)); create view docs as select json_array(a, b) as _id, a from "
      "t",
      {sqlite_track("t", {}, "json_array(a, b)")});
  EXPECT_EQ(changed_by("insert into t values (1, 'x\"y')"),
            (Documents{{R"([1,"x\"y"])", {R"({"a":1})", ""}}}));
}

// An older lockstep applied it without a word, and its first change ended the service for all indices.
TEST_F(SqliteOddKeysTest, AKeyOfSeveralColumnsThatIsNoIdStopsItsIndexOnly) {
  apply(
      "create table t (a, b, primary key (a, b)); create view docs as select json_array(a, b) as _id, a from "
      "t",
      {sqlite_track("t", {}, "json_array(a, b)")});
  application_->execute("update lockstep_capture set query = null");
  source_->reload();
  EXPECT_THAT([&] { changed_by("insert into t values (1, 2)"); },
              ThrowsMessage<ViewError>(AllOf(HasSubstr("[1,2]"), HasSubstr("json_array"))));
}

TEST_F(SqliteOddKeysTest, TheRowThatLetsTheViewFailIsNamed) {
  apply(
      "create table t (k primary key, j); "
      "create view docs as select k as _id, json_extract(j, '$.a') as a from t",
      {sqlite_track("t")});
  application_->execute(
      "insert into t with recursive i(n) as (select 1 union all select n + 1 from i where n < 50) select n, "
      "iif(n = 37, 'no JSON', '{\"a\": 1}') from i");
  const auto named = AllOf(HasSubstr("malformed JSON"), HasSubstr("the row whose _id is \"37\""));
  Documents documents;
  const auto snapshot = source_->changes().read();
  DocumentIds ids;
  for (int i = 1; i <= 50; ++i) ids.push_back({std::to_string(i)});
  EXPECT_THAT([&] { snapshot->render(docs(), ids, kMuch, sink_to(documents)); },
              ThrowsMessage<ViewError>(named));
  EXPECT_THAT([&] { snapshot->render_page(docs(), std::nullopt, 100, kMuch, sink_to(documents)); },
              ThrowsMessage<ViewError>(named));
}

TEST_F(SqliteOddKeysTest, NoRowIsNamedWhereTheViewFailsWhicheverIsAskedFor) {
  apply(
      "create table t (k primary key, j); "
      "create view docs as select k || '' as _id, j from t where json_extract(j, '$.a') is null",
      {sqlite_track("t")});
  application_->execute("insert into t values ('good', '{}'), ('bad', 'no JSON')");
  Documents documents;
  const auto snapshot = source_->changes().read();
  EXPECT_THAT([&] { snapshot->render(docs(), {{"good"}}, kMuch, sink_to(documents)); },
              ThrowsMessage<ViewError>(AllOf(HasSubstr("malformed JSON"), Not(HasSubstr("whose _id is")))));
}

// They took memory without a limit: chunks were limited by the number of their values alone.
TEST_F(SqliteOddKeysTest, LongOnesFillAChunkSooner) {
  apply("create table t (k text primary key, name); create view docs as select k as _id, name from t",
        {sqlite_track("t")});
  Position position = source_->changes().begin(epoch_)->position();
  application_->execute(
      "with recursive n (i) as (select 1 union all select i + 1 from n where i < 20) "
      "insert into t select printf('%0150000d', i), 1 from n");
  std::set<std::string> values;
  int chunks = 0;
  for (bool more = true; more; ++chunks) {
    const Changes changes = source_->changes().begin(epoch_)->read_changes(position, {2'000, kMuch});
    ASSERT_FALSE(changes.large);
    EXPECT_LE(changes.rows, 2);
    for (const CapturedChange& change : changes.captured)
      values.insert(change.values.begin(), change.values.end());
    position = changes.next;
    more = changes.more;
  }
  EXPECT_EQ(chunks, 10);
  EXPECT_EQ(values.size(), 20U);
}

TEST_F(SqliteOddKeysTest, OnlySoManyOfThemAsFitIntoMemoryAreLookedUpAtATime) {
  apply("create table t (k text primary key, name); create view docs as select k as _id, name from t",
        {sqlite_track("t")});
  Position position = source_->changes().begin(epoch_)->position();
  for (int i = 0; i < 10; ++i) {
    application_->execute("insert into t values (printf('%0300000d', " + std::to_string(i) + "), 1)");
    const auto transaction = source_->changes().begin(epoch_);
    const Changes changes = transaction->read_changes(position, {2'000, kMuch});
    position = changes.next;
    transaction->add_due_changes(docs(), changes.captured, DocumentVersion());
    transaction->commit();
  }
  EXPECT_TRUE(support::wait_until([&] { return source_->changes().find_due(docs()).has_value(); },
                                  std::chrono::seconds(10)));
  std::vector<DueNumber> pages;
  while (const auto page = source_->changes().begin(epoch_)->next_due(docs().id, pages).page)
    pages.push_back(page->number);
  EXPECT_EQ(pages.size(), 3U) << "four changes of 300 KB in each";
}

TEST_F(SqliteOddKeysTest, AFileInUtf16IsReadAsItIsInUtf8) {
  sqlite3* file = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &file), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(file, "pragma encoding = 'UTF-16'; create table first (n)", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(file);
  apply(
      "create table \"größe\" (a, b, name, primary key (a, b)); create table t (k text primary key, name); "
      "create view docs as select k as _id, name from t union all select a || b, name from \"größe\"",
      {sqlite_track("t"), sqlite_track("größe", {}, "a || b")});
  EXPECT_EQ(application_->value("pragma encoding"), "UTF-16le");
  EXPECT_EQ(changed_by("insert into t values ('日本', '語'), ('a' || char(0), x'00ff')"),
            (Documents{{"日本", {"{\"name\":\"語\"}", ""}}, {"a\0"s, {"{\"name\":\"AP8=\"}", ""}}}));
  EXPECT_EQ(changed_by("insert into \"größe\" values ('é', '語', 1)"),
            (Documents{{"é語", {"{\"name\":1}", ""}}}));
  EXPECT_EQ(all().size(), 3U);
}

}  // namespace
}  // namespace lockstep
