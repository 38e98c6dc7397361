// `lockstep init` on a SQLite file: what it writes is taken by `check` as it is, and no change of any table
// is missed by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/integration/init_fixture.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/program.h"
#include "tests/support/random_seed.h"
#include "tests/support/servers.h"
#include "tests/support/sqlite_application.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// {n} and {m} are numbers from 1 to 12: most of them are there, and some are not.
const std::vector<std::string> kStatements = {
    R"(update "Artist" set "Name" = 'renamed {n}' where "ArtistId" = {n} % 4 + 1)",
    R"(update "Album" set "Title" = 'renamed {n}' where "AlbumId" = {n} % 6 + 1)",
    R"(update "Album" set "ArtistId" = {m} where "AlbumId" = {n} % 6 + 1)",
    R"(update "Genre" set "Name" = 'renamed {m}' where "GenreId" = {n} % 4 + 1)",
    R"(update "MediaType" set "Name" = 'renamed {m}' where "MediaTypeId" = {n} % 3 + 1)",
    R"(update "Track" set "Name" = 'renamed {m}', "Facts" = '{"bpm": {n}}' where "TrackId" = {n})",
    R"(update "Track" set "AlbumId" = {m}, "GenreId" = null where "TrackId" = {n})",
    R"(delete from "Track" where "TrackId" = {n} and {m} % 3 = 0)",
    R"(insert or replace into "Track" values ({n}, 'new {m}', {m}, 1, 2, null, 1, 1.5, null, '[]'))",
    R"(update "Playlist" set "Name" = 'renamed {m}' where "PlaylistId" = {n} % 5 + 1)",
    R"(delete from "Playlist" where "PlaylistId" = {n})",
    R"(insert or ignore into "PlaylistTrack" values ({n} % 5 + 1, {m}))",
    R"(update or ignore "PlaylistTrack" set "TrackId" = {m} where "TrackId" = {n})",
    R"(update "Customer" set "FirstName" = 'renamed {m}', "SupportRepId" = {m} % 6 + 1 where "CustomerId" = {n} % 7 + 1)",
    R"(update "Employee" set "LastName" = 'renamed {m}' where "EmployeeId" = {n} % 6 + 1)",
    R"(update "Employee" set "ReportsTo" = nullif({n} % 6, 0) where "EmployeeId" = {m} % 6 + 1)",
    R"(update "Invoice" set "CustomerId" = {m}, "Total" = {n} where "InvoiceId" = {n})",
    R"(update or replace "InvoiceLine" set "TrackId" = {m}, "Line" = {m} % 4 + 1 where "InvoiceId" = {n} and "Line" < 3)",
    R"(delete from "InvoiceLine" where "InvoiceId" = {n} and "Line" = {m})",
    R"(update "Refund" set "Reason" = 'renamed {m}' where "RefundId" = {n})",
    R"(update "Refund" set "InvoiceId" = {m}, "Line" = {n} % 4 + 1 where "RefundId" = {n})",
    R"(delete from "Refund" where "RefundId" = {n} and {m} = 1)",
};

class SqliteInit : public testing::Test {
 protected:
  SqliteInit() {
    database_.execute("pragma journal_mode = wal; " +
                      content(LOCKSTEP_SOURCE_DIR "/tests/support/music_schema.sql"));
  }

  static std::string content(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::stringstream content;
    content << in.rdbuf();
    return content.str();
  }
  std::filesystem::path file(const std::string& extension) const {
    return folder_.path() / "made" / (index_.alias() + extension);
  }
  std::string text(const std::string& extension) const { return content(file(extension)); }

  Completed init(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{"init",         "--source",        "sqlite:" + path_.string(), "--alias",
                                 index_.alias(), "--elasticsearch", elasticsearch_url()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.push_back((folder_.path() / "made").string());
    return run_program(lockstep_program(), all);
  }

  void must(const std::string& verb, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{verb, "-c", file(".toml").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Completed completed = run_program(lockstep_program(), arguments);
    ASSERT_EQ(completed.exit_code, 0) << verb << "\n" << completed.out << completed.err << text(".toml");
    EXPECT_THAT(completed.out, Not(HasSubstr(".toml:"))) << "check warns of the file\n" << text(".toml");
  }

  // Fills the index, changes rows of every table, follows, compares.
  void expect_that_no_change_is_missed(const std::string& view) {
    must("up", {"--until-caught-up"});
    std::mt19937 random(random_seed());
    std::uniform_int_distribution<int> number(1, 12);
    for (int round = 0; round < 2; ++round) {
      for (const std::string& statement : kStatements)
        database_.execute(filled(filled(statement, "{n}", number(random)), "{m}", number(random)));
    }
    EXPECT_GT(database_.number("select count(*) from lockstep_outbox"), 0) << "no change was captured";
    must("run", {"--until-caught-up"});
    must("verify");
    EXPECT_EQ(index_.count(), database_.number("select count(*) from " + view));
    EXPECT_EQ(database_.number("select count(*) from lockstep_dead_letter"), 0);
  }

  nlohmann::json fields() const {
    return nlohmann::json::parse(text(".json")).at("mappings").at("properties");
  }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "music.db";
  SqliteApplication database_{path_};
  ElasticsearchIndex index_{"sqlite-init"};
};

TEST_F(SqliteInit, FromAViewWritesTracksThatMissNoChange) {
  const Completed made = init({"--view", "tracks"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, Not(HasSubstr("not known")));
  EXPECT_THAT(text(".toml"), HasSubstr("json = [\"facts\", \"lists\", \"sales\"]"));
  EXPECT_EQ(fields().at("lists").at("type"), "text");
  EXPECT_EQ(fields().at("sales").at("type"), "object");
  EXPECT_EQ(fields().at("price").at("type"), "double");
  EXPECT_THAT(text(".sql"),
              HasSubstr("create index if not exists PlaylistTrack_TrackId on PlaylistTrack (TrackId);"));
  database_.execute(text(".sql"));
  expect_that_no_change_is_missed("tracks");
}

TEST_F(SqliteInit, FromAPipelineFileOfLogstashWritesAViewAndTracksThatMissNoChange) {
  std::ofstream(folder_.path() / "tracks.conf") << R"(
input { jdbc { statement => 'select t."TrackId", t."Name", a."Title" as album from "Track" t
                             left join "Album" a on a."AlbumId" = t."AlbumId" where t."TrackId" > :sql_last_value' } }
output { elasticsearch { document_id => "%{trackid}" } }
)";
  const Completed made = init({"--from-logstash", (folder_.path() / "tracks.conf").string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("tracks.conf:2: the column TrackId; Logstash calls it trackid"));
  const std::string view = "\"search_" + index_.alias() + "\"";
  EXPECT_EQ(database_.number("select count(*) from sqlite_master where name like 'search_%'"), 0)
      << "it is only tried";
  database_.execute(text(".sql"));
  expect_that_no_change_is_missed(view);
}

TEST_F(SqliteInit, FromTablesWritesAViewAndTracksThatMissNoChange) {
  const Completed made = init({"--table", "track", "--with",
                               "album,artist,genre,MediaType,Playlist,InvoiceLine,Invoice,Customer", "--with",
                               "Employee,Refund"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("sqlite3 -bail " + path_.string()));
  database_.execute(text(".sql"));
  std::string album, lines;
  database_.query("select Album, InvoiceLine from search_Track where _id = 2", [&](char** values) {
    album = values[0];
    lines = values[1];
  });
  EXPECT_EQ(nlohmann::json::parse(album).at("Artist").at("Name"), "artist 4");
  const auto customer = nlohmann::json::parse(lines).at(0).at("Invoice").at("Customer");
  EXPECT_THAT(customer.at("Employee").at("LastName").get<std::string>(), HasSubstr("employee"));
  EXPECT_EQ(
      fields().at("InvoiceLine").at("properties").at("Invoice").at("properties").at("InvoiceDate").at("type"),
      "date");
  expect_that_no_change_is_missed("search_Track");
}

TEST_F(SqliteInit, AnIdThatIsABlobIsItsDigitsOnEveryWay) {
  database_.execute(
      "create table makers (id blob primary key, name text);"
      "create table things (id blob primary key, maker blob references makers, name text);"
      "create table parts (id integer primary key, thing blob references things, name text);"
      "insert into makers values (x'a1', 'one'); insert into things values (x'b1', x'a1', 'thing');"
      "insert into parts values (1, x'b1', 'part')");
  ASSERT_EQ(init({"--table", "things", "--with", "makers,parts"}).exit_code, 0);
  database_.execute(text(".sql"));
  must("apply", {"--yes"});
  must("run", {"--until-caught-up"});
  for (const char* const change : {"update makers set name = 'two'", "update parts set name = 'other'",
                                   "update things set name = 'changed'"}) {
    database_.execute(change);
    must("run", {"--until-caught-up"});
    must("verify");
  }
  EXPECT_EQ(index_.documents().size(), 1U);
}

TEST_F(SqliteInit, AViewWhoseIdIsAnExpressionLeavesAPlaceForEachTrackAndAUnionHasAllOfThem) {
  database_.execute("create view both as select TrackId as _id from Track union select ArtistId from Artist");
  ASSERT_THAT(init({"--view", "both"}).out, Not(HasSubstr("not known")));
  EXPECT_THAT(text(".toml"), AllOf(HasSubstr("table = \"Track\"\n"), HasSubstr("table = \"Artist\"\n")));
  std::filesystem::remove_all(folder_.path() / "made");
  database_.execute(
      "drop view both; create view both as select 't' || TrackId as _id from Track union select 'a' || "
      "ArtistId "
      "from Artist");
  const Completed made = init({"--view", "both"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("! not known: what leads from Artist to an _id"));
  EXPECT_THAT(text(".toml"), HasSubstr("# table = \"Track\""));
  const Completed checked = run_program(lockstep_program(), {"check", "-c", file(".toml").string()});
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_THAT(checked.err, HasSubstr("tracks no table"));
}

TEST_F(SqliteInit, NamesWhatIsWrongWithItsArguments) {
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--view", "nothing"}, "there is no view nothing"},
           {{"--view", "Track"}, "is a table, not a view"},
           {{"--table", "PlaylistTrack"}, "a primary key of several columns"},
           {{"--table", "nothing"}, "there is no table nothing; there are"}}) {
    const Completed made = init(arguments);
    EXPECT_EQ(made.exit_code, 2) << message;
    EXPECT_THAT(made.err, HasSubstr(message));
  }
  const Completed made = run_program(
      lockstep_program(),
      {"init", "--source", "sqlite:/nowhere/app.db", "--view", "tracks", (folder_.path() / "made").string()});
  EXPECT_EQ(made.exit_code, 2);
  EXPECT_THAT(made.err, HasSubstr("there is no file /nowhere/app.db"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "made"));
}

}  // namespace
}  // namespace lockstep::support
