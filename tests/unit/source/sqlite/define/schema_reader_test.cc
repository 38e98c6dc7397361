// What `init` learns of a SQLite file.
#include "replicator/source/sqlite/define/schema_reader.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "replicator/error.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;
using testing::SizeIs;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

class SqliteSchemaReaderTest : public testing::Test {
 protected:
  SqliteSchemaReaderTest() : application_(folder_.file("app.db")) {}

  SqliteSchemaReader reader() const {
    return SqliteSchemaReader(sqlite_config(folder_.file("app.db"), {}).source);
  }

  ApplicationFolder folder_;
  Application application_;
};

TEST_F(SqliteSchemaReaderTest, ReadsTablesKeysForeignKeysAndIndices) {
  application_.execute(
      "create table users (id integer primary key, \"Full Name\" text);"
      "create table posts (id integer primary key, \"order\" int, owner int references USERS, "
      "lost int references nobody);"
      "create table parts (maker text, number int, primary key (number, maker)) without rowid;"
      "create table uses (post int references posts (id), m text, n int, foreign key (n, m) references "
      "parts);"
      "create index by_owner on posts (owner, \"order\"); create index some on posts (lost) where lost > 1;"
      "create index digits on posts (owner, abs(lost)); create virtual table words using fts5(text);"
      "create table lockstep_outbox (id integer primary key)");
  const TableGraph graph = reader().tables();
  EXPECT_THAT(graph, UnorderedElementsAre(Key("users"), Key("posts"), Key("parts"), Key("uses")));
  EXPECT_EQ(graph.at("users").columns[1].quoted, "\"Full Name\"");
  const GraphTable& posts = graph.at("posts");
  EXPECT_EQ(posts.columns[1].quoted, "\"order\"") << "a word of SQL";
  ASSERT_THAT(posts.foreign_keys, SizeIs(1)) << "one to a table that is not there is none";
  EXPECT_EQ(posts.foreign_keys[0].table, "users");
  EXPECT_THAT(posts.foreign_keys[0].references, ElementsAre("id")) << "without a name: the primary key";
  EXPECT_THAT(posts.indices, UnorderedElementsAre(ElementsAre("id"), ElementsAre("owner", "\"order\""),
                                                  ElementsAre("owner")));
  EXPECT_THAT(graph.at("parts").key, ElementsAre("number", "maker"));
  const std::vector<ForeignKey>& keys = graph.at("uses").foreign_keys;
  const auto pair =
      std::find_if(keys.begin(), keys.end(), [](const auto& key) { return key.table == "parts"; });
  ASSERT_NE(pair, keys.end());
  EXPECT_THAT(pair->columns, ElementsAre("n", "m"));
  EXPECT_THAT(pair->references, ElementsAre("number", "maker"));
}

TEST_F(SqliteSchemaReaderTest, KindsComeFromTypesAndFromValues) {
  application_.execute(
      "create table things (id integer primary key, price decimal(8,2), open boolean, made datetime, seen "
      "date, "
      "photo blob, facts json, tags text, name varchar(9), code uuid, any, misfit int);"
      "insert into things values (1, 5, 1, '2026-01-01 10:00:00', 1767225600, x'00', '{\"a\": 1}', "
      "'[\"x\"]', "
      "'2026-01-01', 'f1', 1.5, 'seven'), (2, null, null, '2026-01-01T10:00:00Z', null, null, null, '[]', "
      "null, "
      "null, null, 8)");
  const TableGraph graph = reader().tables();
  std::map<std::string, ValueKind> kinds;
  std::vector<std::string> json;
  for (const GraphColumn& column : graph.at("things").columns) {
    kinds[column.name] = column.kind;
    if (column.json_in_text) json.push_back(column.name);
  }
  EXPECT_THAT(kinds, UnorderedElementsAre(Pair("id", ValueKind::kLong), Pair("price", ValueKind::kDouble),
                                          Pair("open", ValueKind::kLong), Pair("made", ValueKind::kDateText),
                                          Pair("seen", ValueKind::kLong), Pair("photo", ValueKind::kOpaque),
                                          Pair("facts", ValueKind::kObject), Pair("tags", ValueKind::kText),
                                          Pair("name", ValueKind::kText), Pair("code", ValueKind::kKeyword),
                                          Pair("any", ValueKind::kDouble), Pair("misfit", ValueKind::kText)));
  EXPECT_THAT(json, ElementsAre("facts", "tags"));
}

TEST_F(SqliteSchemaReaderTest, WithoutRowsTheDeclaredTypeCounts) {
  application_.execute("create table things (made timestamp, facts json, photo blob, n bigint, r real)");
  const std::vector<GraphColumn> columns = reader().tables().at("things").columns;
  EXPECT_EQ(columns[0].kind, ValueKind::kDateText);
  EXPECT_TRUE(columns[1].json_in_text);
  EXPECT_EQ(columns[2].kind, ValueKind::kOpaque);
  EXPECT_EQ(columns[3].kind, ValueKind::kLong);
  EXPECT_EQ(columns[4].kind, ValueKind::kDouble);
}

TEST_F(SqliteSchemaReaderTest, AViewTellsItsRootItsTablesAndItsJson) {
  application_.execute(
      "create table users (id integer primary key, name text); create table posts (id integer primary key, "
      "title text, user_id int); insert into users values (1, 'Ann'); insert into posts values (2, 'One', 1);"
      "create virtual table words using fts5(text);"
      "create view documents as select p.id as _id, p.title, json_object('name', u.name) as user, null as "
      "later, "
      "(select count(*) from words) as words from posts p join users u on u.id = p.user_id");
  const ViewShape view = reader().view("DOCUMENTS");
  EXPECT_EQ(view.name, "documents");
  EXPECT_THAT(view.graph.documents, ElementsAre(Pair(0, "id")));
  EXPECT_THAT(view.reads, UnorderedElementsAre("posts", "users"));
  ASSERT_THAT(view.graph.links, SizeIs(1));
  EXPECT_TRUE(view.columns[2].json_in_text);
  EXPECT_EQ(view.columns[2].kind, ValueKind::kObject);
  EXPECT_THAT(view.unknown, Contains(HasSubstr("column later: no row has a value yet")));
  EXPECT_THAT(view.unknown, Contains(HasSubstr("when words changes")));
}

TEST_F(SqliteSchemaReaderTest, AFileOfStatementsIsNoDatabase) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "lockstep-pg.sql";
  std::ofstream(file) << std::string(2000, '-') << "\ncreate table a (id int);\n";
  SourceConfig source;
  source.kind = SourceConfig::Kind::kSqlite;
  source.url = "sqlite:" + file.string();
  source.database = file;
  EXPECT_THAT([&] { SqliteSchemaReader(source).tables(); },
              ThrowsMessage<Error>(HasSubstr("lockstep-pg.sql is not an SQLite database; check the path")));
  std::filesystem::remove(file);
}

TEST_F(SqliteSchemaReaderTest, SaysWhyAViewCannotBeRead) {
  application_.execute(
      "create table users (id integer primary key); create view bare as select id from users;"
      "create view broken as select nobodys_function(id) as _id from users");
  SqliteSchemaReader schema = reader();
  EXPECT_THAT([&] { schema.view("users"); }, ThrowsMessage<UsageError>(HasSubstr("is a table, not a view")));
  EXPECT_THAT([&] { schema.view("nothing"); },
              ThrowsMessage<UsageError>(HasSubstr("there is no view nothing")));
  EXPECT_THAT([&] { schema.view("bare"); }, ThrowsMessage<UsageError>(HasSubstr("has no column _id")));
  EXPECT_THAT([&] { schema.view("broken"); }, ThrowsMessage<UsageError>(HasSubstr("nobodys_function")));
  EXPECT_TRUE(schema.has("USERS"));
  EXPECT_FALSE(schema.has("search_users"));
  EXPECT_EQ(schema.view_for("Order Details"), "\"search_Order Details\"");
}

}  // namespace
}  // namespace lockstep
