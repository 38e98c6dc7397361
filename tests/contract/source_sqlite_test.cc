// SQLite under the contract of a source.
#include <sqlite3.h>

#include <stdexcept>
#include <string>

#include "replicator/config/config.h"
#include "replicator/source/open_source.h"
#include "tests/contract/source_contract.h"
#include "tests/contract/source_sql_writer.h"
#include "tests/support/sync_recorder.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

/// An application's connection.
class Database {
 public:
  explicit Database(const std::filesystem::path& file) {
    if (sqlite3_open(file.c_str(), &handle_) != SQLITE_OK) throw std::runtime_error("no database");
    sqlite3_busy_timeout(handle_, 10'000);
  }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Returns the last value of the last row, if any.
  std::string execute(const std::string& sql) {
    std::string value;
    char* message = nullptr;
    const auto keep = [](void* to, int columns, char** values, char**) {
      if (const char* const last = values[columns - 1]) *static_cast<std::string*>(to) = last;
      return 0;
    };
    if (sqlite3_exec(handle_, sql.c_str(), keep, &value, &message) == SQLITE_OK) return value;
    const std::string text = sql + ": " + message;
    sqlite3_free(message);
    throw std::runtime_error(text);
  }

 private:
  sqlite3* handle_ = nullptr;
};

class SqliteWriter final : public SqlWriter {
 public:
  enum class Synchronous { kFull, kOff };

  SqliteWriter(const std::filesystem::path& file, Synchronous synchronous) : database_(file) {
    database_.execute(synchronous == Synchronous::kFull ? "pragma synchronous = full"
                                                        : "pragma synchronous = off");
  }

 protected:
  void execute(const std::string& sql) override { database_.execute(sql); }

 private:
  Database database_;
};

constexpr const char* kDocsView =
    "create view docs as select t.id as _id, t.n, "
    "(select json_group_array(p.id) from part p where p.thing_id = t.id) as parts "
    "from thing t where t.n >= 0";

class SqliteWorld final : public DefinedWorld {
 public:
  explicit SqliteWorld(const std::string& journal_mode, const std::string& encoding = "UTF-8") {
    support::record_syncs();
    database().execute(
        "pragma encoding = '" + encoding + "'; pragma journal_mode = " + journal_mode +
        "; "
        "create table thing (id integer primary key, n integer not null); "
        "create table part (id integer primary key, thing_id integer not null); "
        "create index part_thing on part (thing_id); "
        "create table town (id integer primary key, name text not null); "
        "create table parcel (id integer primary key, town_id integer not null); "
        "create index parcel_town on parcel (town_id); " +
        std::string(kDocsView) +
        "; create view parcels as select p.id as _id, t.name as _routing, p.town_id as _town_id, "
        "t.name as town from parcel p left join town t on t.id = p.town_id; "
        "create view docs_2 as select 't' || t.id as _id, t.id as _thing_id, t.n as _town_id, "
        "w.name as _routing, t.n * 2 as doubled from thing t left join town w on w.id = t.n");
    Config config;
    config.source.kind = SourceConfig::Kind::kSqlite;
    config.source.url = "sqlite:" + file_.string();
    config.source.database = file_;
    config.replication.max_outbox_size = kOutboxLimit;
    IndexConfig docs;
    docs.alias = "docs";
    docs.view = "docs";
    docs.json_columns = {"parts"};
    docs.tracks = {track("thing", "", ""), track("part", "", "thing_id")};
    IndexConfig parcels;
    parcels.alias = "parcels";
    parcels.view = "parcels";
    parcels.tracks = {track("parcel", "", ""), track("town", "_town_id", "")};
    IndexConfig unknown;
    unknown.alias = "unknown";
    unknown.view = "nobody_has_made_this";
    unknown.tracks = {track("thing", "", "")};
    IndexConfig other = docs;
    other.view = "docs_2";
    other.json_columns.clear();
    other.tracks = {track("thing", "_thing_id", ""), track("town", "_town_id", "")};
    applied_ = without_parcels_ = with_unknown_view_ = with_other_view_ = with_other_view_alone_ = config;
    applied_.indices = {docs, parcels};
    without_parcels_.indices = {docs};
    with_unknown_view_.indices = {docs, parcels, unknown};
    with_other_view_.indices = {other, parcels};
    with_other_view_alone_.indices = {other};
    definition(Configuration::kApplied)->apply({});
  }

  std::unique_ptr<Source> open() override { return open_source(applied_, "contract"); }
  std::unique_ptr<SourceWriter> writer() override {
    return std::make_unique<SqliteWriter>(file_, SqliteWriter::Synchronous::kFull);
  }
  std::unique_ptr<SourceWriter> lazy_writer() override {
    return std::make_unique<SqliteWriter>(file_, SqliteWriter::Synchronous::kOff);
  }
  bool is_durable() override {
    return !support::is_unsynced(file_) && !support::is_unsynced(file_.string() + "-wal");
  }
  bool saves_beside_open_writers() const override { return false; }
  bool tells_transactions_apart() const override { return false; }
  bool truncating_names_rows() const override { return true; }

  void break_view() override { database().execute("drop view docs"); }
  void mend_view() override { database().execute(kDocsView); }

  void age_outbox() override {}  // age does not matter
  void fill_outbox() override {
    database().execute(
        "insert into lockstep_outbox (capture, value) with recursive i(n) as (select 1 union all "
        "select n + 1 from i where n < 30000) select (select max(id) from lockstep_capture), 100000 + n from "
        "i");
    database().execute("insert into thing values (99999, -1)");  // its trigger notices
  }

  std::unique_ptr<SourceDefinition> definition(Configuration configuration) override {
    switch (configuration) {
      case Configuration::kWithoutParcels:
        return open_source_definition(without_parcels_);
      case Configuration::kWithUnknownView:
        return open_source_definition(with_unknown_view_);
      case Configuration::kWithOtherView:
        return open_source_definition(with_other_view_);
      case Configuration::kWithOtherViewWithoutParcels:
        return open_source_definition(with_other_view_alone_);
      case Configuration::kApplied:
        break;
    }
    return open_source_definition(applied_);
  }
  std::unique_ptr<AppliedWatch> watch() override { return open_applied_watch(applied_); }
  std::unique_ptr<StatusReader> status() override { return open_status_reader(applied_); }
  std::unique_ptr<StatusWriter> status_writer() override { return open_status_writer(applied_); }

  std::string create_user() override { return ""; }
  void execute_as_owner(const std::vector<std::string>& statements) override {
    for (const std::string& statement : statements) database().execute(statement);
  }
  std::unique_ptr<Source> open_as(const std::string& /*user*/) override { return open(); }

  void drop_trigger() override {
    Database database(file_);
    database.execute("drop trigger \"" +
                     database.execute("select min(name) from sqlite_schema "
                                      "where type = 'trigger' and tbl_name = 'thing'") +
                     "\"");
  }
  void replace_view() override {
    std::string view = kDocsView;
    view.replace(view.find(" as parts"), 9, " as parts, 1 as one_more");
    database().execute("drop view docs; " + view);
  }
  void plant_job(const std::string& kind, const std::string& position) override {
    database().execute(
        "update lockstep_counter set job = job + 1; "
        "insert into lockstep_job (id, pipeline, index_id, kind, position, reason) "
        "select (select job from lockstep_counter), i.pipeline, i.id, '" +
        kind + "', '" + position + "', 'planted' from lockstep_index as i where i.alias = 'docs'");
  }
  void plant_null(const std::string& table, const std::string& column) override {
    const std::string name = "lockstep_" + table;
    Database database(file_);
    std::string sql = database.execute("select sql from sqlite_schema where name = '" + name + "'");
    const std::size_t line = sql.find("\n  " + column + " ");
    const std::size_t constraint = sql.find(" not null", line);
    if (line != std::string::npos && constraint < sql.find('\n', line + 1)) sql.erase(constraint, 9);
    std::string quoted;
    for (const char c : sql) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    database.execute("pragma writable_schema = on; update sqlite_schema set sql = '" + quoted +
                     "' where name = '" + name + "'; pragma writable_schema = reset");
    const std::string version = database.execute("pragma schema_version");
    database.execute("pragma schema_version = " + std::to_string(std::stoi(version) + 1));
    Database(file_).execute("update " + name + " set " + column + " = null");
  }
  void plant_migration(int number) override {
    Database(file_).execute("insert into lockstep_migration (number, name, checksum, applied_by) values (" +
                            std::to_string(number) + ", '', '', '')");
  }
  void plant_text(const std::string& table, const std::string& column, const std::string& text) override {
    Database(file_).execute("update lockstep_" + table + " set " + column + " = '" + text + "'");
  }
  void plant_outbox_rows(CaptureId capture, int rows) override {
    database().execute(
        "insert into lockstep_outbox (capture, value) with recursive i(n) as (select 1 "
        "union all select n + 1 from i where n < " +
        std::to_string(rows) + ") select " + std::to_string(capture.value) + ", 1 from i");
  }
  void age_dead_letters(std::chrono::seconds by) override {
    Database(file_).execute(
        "update lockstep_dead_letter set last_at = strftime('%Y-%m-%d %H:%M:%f', last_at, '-" +
        std::to_string(by.count()) + " seconds')");
  }
  void plant_rows_of_index(IndexId index) override {
    const std::string id = std::to_string(index.value);
    database().execute("insert into lockstep_set_aside (index_id, reason) values (" + id + ", 'planted')");
    database().execute(
        "insert into lockstep_dead_letter (index_id, id, version, status, error_type, reason) values (" + id +
        ", '1', 1, 400, 'a_type', 'planted')");
    database().execute(
        "update lockstep_counter set job = job + 1; "
        "insert into lockstep_job (id, pipeline, index_id, kind, reason) "
        "select (select job from lockstep_counter), p.id, " +
        id + ", 'sweep', 'planted' from lockstep_pipeline as p");
  }

 private:
  static constexpr std::int64_t kOutboxLimit = 1 << 20;

  Database database() const { return Database(file_); }

  support::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "contract.db";
  Config applied_;
  Config without_parcels_;
  Config with_unknown_view_;
  Config with_other_view_;
  Config with_other_view_alone_;
};

const auto kSqlite = testing::Values(MakeWorld{[] { return std::make_unique<SqliteWorld>("wal"); }});
const auto kRollback = testing::Values(MakeWorld{[] { return std::make_unique<SqliteWorld>("delete"); }});
const auto kUtf16 = testing::Values(MakeWorld{[] { return std::make_unique<SqliteWorld>("wal", "UTF-16"); }});
const auto kSqliteName = [](const auto&) { return std::string("Sqlite"); };

INSTANTIATE_TEST_SUITE_P(Sqlite, SourceContract, kSqlite, kSqliteName);
INSTANTIATE_TEST_SUITE_P(Sqlite, SnapshotSourceContract, kSqlite, kSqliteName);
INSTANTIATE_TEST_SUITE_P(Sqlite, DefinedSourceContract, kSqlite, kSqliteName);
INSTANTIATE_TEST_SUITE_P(Sqlite, WatchedSourceContract, kSqlite, kSqliteName);
INSTANTIATE_TEST_SUITE_P(Sqlite, ReindexedSourceContract, kSqlite, kSqliteName);
INSTANTIATE_TEST_SUITE_P(Sqlite, RedefinedSourceContract, kSqlite, kSqliteName);
INSTANTIATE_TEST_SUITE_P(SqliteUtf16, SourceContract, kUtf16, kSqliteName);
INSTANTIATE_TEST_SUITE_P(SqliteRollback, SourceContract, kRollback, kSqliteName);

}  // namespace
}  // namespace lockstep
