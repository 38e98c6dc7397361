// PostgreSQL under the contract of a source.
#include "replicator/config/config.h"
#include "replicator/source/open_source.h"
#include "tests/contract/source_contract.h"
#include "tests/contract/source_sql_writer.h"
#include "tests/support/postgres_database.h"

namespace lockstep {
namespace {

class PostgresWriter : public SqlWriter {
 public:
  explicit PostgresWriter(const support::PostgresDatabase& database) : connection_(database.connect()) {}

  void truncate_things() override { execute("truncate thing"); }

  std::optional<TransactionId> transaction() override {
    return TransactionId{support::execute(*connection_, "select pg_current_xact_id()::text::bigint")[0][0]
                             .as<std::uint64_t>()};
  }

 protected:
  void execute(const std::string& sql) override { support::execute(*connection_, sql); }

  std::unique_ptr<pqxx::connection> connection_;
};

/// Does not wait for its commits to be flushed.
class LazyPostgresWriter final : public PostgresWriter {
 public:
  /// `committed_at` is where in the WAL its last commit is.
  LazyPostgresWriter(const support::PostgresDatabase& database, std::string& committed_at)
      : PostgresWriter(database), committed_at_(committed_at) {
    support::execute(*connection_, "set synchronous_commit = off");
  }

 protected:
  void execute(const std::string& sql) override {
    PostgresWriter::execute(sql);
    committed_at_ = support::execute(*connection_, "select pg_current_wal_insert_lsn()")[0][0].c_str();
  }

 private:
  std::string& committed_at_;
};

class PostgresWorld final : public DefinedWorld {
 public:
  PostgresWorld() {
    database_.execute(
        "create table thing (id integer primary key, n integer not null); "
        "create table part (id integer primary key, thing_id integer not null); "
        "create table town (id integer primary key, name text not null); "
        "create table parcel (id integer primary key, town_id integer not null); "
        "create view docs as select t.id as _id, t.n, "
        "(select array_agg(p.id order by p.id) from part p where p.thing_id = t.id) as parts "
        "from thing t where t.n >= 0; "
        "create view parcels as select p.id as _id, t.name as _routing, p.town_id as _town_id, t.name as "
        "town "
        "from parcel p left join town t on t.id = p.town_id; "
        "create view docs_2 as select 't' || t.id as _id, t.id as _thing_id, t.n as _town_id, "
        "w.name as _routing, t.n * 2 as doubled from thing t left join town w on w.id = t.n");
    Config config;
    config.source.url = database_.url();
    config.source.password = Secret(database_.password());
    config.replication.max_outbox_size = kOutboxLimit;
    IndexConfig docs;
    docs.alias = "docs";
    docs.view = "public.docs";
    docs.tracks = {track("public.thing", "", ""), track("public.part", "", "thing_id")};
    IndexConfig parcels;
    parcels.alias = "parcels";
    parcels.view = "public.parcels";
    parcels.tracks = {track("public.parcel", "", ""), track("public.town", "_town_id", "")};
    IndexConfig unknown;
    unknown.alias = "unknown";
    unknown.view = "public.nobody_has_made_this";
    unknown.tracks = {track("public.thing", "", "")};
    IndexConfig other = docs;
    other.view = "public.docs_2";
    other.json_columns.clear();
    other.tracks = {track("public.thing", "_thing_id", ""), track("public.town", "_town_id", "")};
    applied_ = without_parcels_ = with_unknown_view_ = with_other_view_ = with_other_view_alone_ = config;
    applied_.indices = {docs, parcels};
    without_parcels_.indices = {docs};
    with_unknown_view_.indices = {docs, parcels, unknown};
    with_other_view_.indices = {other, parcels};
    with_other_view_alone_.indices = {other};
    definition(Configuration::kApplied)->apply({});
  }

  std::unique_ptr<Source> open() override { return open_source(applied_, "contract"); }
  std::unique_ptr<SourceWriter> writer() override { return std::make_unique<PostgresWriter>(database_); }
  std::unique_ptr<SourceWriter> lazy_writer() override {
    return std::make_unique<LazyPostgresWriter>(database_, committed_at_);
  }
  bool is_durable() override {
    return database_.value("select pg_current_wal_flush_lsn() >= '" + committed_at_ + "'") == "t";
  }

  void break_view() override { database_.execute("alter view docs rename to docs_elsewhere"); }
  void mend_view() override { database_.execute("alter view docs_elsewhere rename to docs"); }

  // The leader has writers change to another leaf every ten minutes; here it is done at once.
  void age_outbox() override {
    database_.execute(
        "select setval('lockstep.outbox_slot', (s.last_value + 1) % 3) from lockstep.outbox_slot as s");
  }
  void fill_outbox() override {
    database_.execute(
        "insert into lockstep.outbox (capture, keys) select max(c.id), array_agg((100000 + i)::text) "
        "from lockstep.capture c, generate_series(1, 400000) i group by i % 400");
    database_.execute("select lockstep.limit_outbox()");
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

  std::string create_user() override { return database_.create_role("contract"); }
  void execute_as_owner(const std::vector<std::string>& statements) override {
    for (const std::string& statement : statements) database_.execute(statement);
  }
  std::unique_ptr<Source> open_as(const std::string& user) override {
    Config config = applied_;
    config.source.url = database_.url_as(user);
    return open_source(config, "contract");
  }

  void drop_trigger() override {
    database_.execute("drop trigger \"" +
                      *database_.value("select tgname from pg_trigger where tgrelid = 'thing'::regclass and "
                                       "not tgisinternal order by tgname limit 1") +
                      "\" on thing");
  }
  void replace_view() override {
    database_.execute(
        "create or replace view docs as select t.id as _id, t.n, "
        "(select array_agg(p.id order by p.id) from part p where p.thing_id = t.id) as parts, 1 as one_more "
        "from thing t where t.n >= 0");
  }
  void plant_job(const std::string& kind, const std::string& position) override {
    database_.execute("alter table lockstep.job drop constraint if exists job_kind_check");
    database_.execute(
        "insert into lockstep.job (pipeline, index, kind, position, reason) select i.pipeline, i.id, '" +
        kind + "', '" + position + "', 'planted' from lockstep.index as i where i.alias = 'docs'");
  }
  void plant_null(const std::string& table, const std::string& column) override {
    database_.execute("alter table lockstep." + table + " alter " + column + " drop not null");
    database_.execute("update lockstep." + table + " set " + column + " = null");
  }
  void plant_migration(int number) override {
    database_.execute("insert into lockstep.migration (number, name, checksum, applied_by) values (" +
                      std::to_string(number) + ", '', '', '')");
  }
  void plant_text(const std::string& table, const std::string& column, const std::string& text) override {
    database_.execute("update lockstep." + table + " set " + column + " = '" + text + "'");
  }
  void plant_outbox_rows(CaptureId capture, int rows) override {
    database_.execute("insert into lockstep.outbox (capture, keys) select " + std::to_string(capture.value) +
                      ", '{1}' from generate_series(1, " + std::to_string(rows) + ")");
  }
  void age_dead_letters(std::chrono::seconds by) override {
    database_.execute("update lockstep.dead_letter set last_at = last_at - interval '" +
                      std::to_string(by.count()) + " s'");
  }
  void plant_rows_of_index(IndexId index) override {
    const std::string id = std::to_string(index.value);
    for (const char* table : {"job", "dead_letter", "set_aside"}) {
      database_.execute("alter table lockstep." + std::string(table) + " drop constraint " + table +
                        "_index_fkey");
    }
    database_.execute("insert into lockstep.set_aside (index, reason) values (" + id + ", 'planted')");
    database_.execute(
        "insert into lockstep.dead_letter (index, id, version, status, error_type, reason) values (" + id +
        ", '1', 1, 400, 'a_type', 'planted')");
    database_.execute("insert into lockstep.job (pipeline, index, kind, reason) select p.id, " + id +
                      ", 'sweep', 'planted' from lockstep.pipeline as p");
  }

 private:
  static constexpr std::int64_t kOutboxLimit = 1 << 20;

  support::PostgresDatabase database_;
  Config applied_;
  Config without_parcels_;
  Config with_unknown_view_;
  Config with_other_view_;
  Config with_other_view_alone_;
  std::string committed_at_;
};

const auto kPostgres = testing::Values(MakeWorld{[] { return std::make_unique<PostgresWorld>(); }});
const auto kPostgresName = [](const auto&) { return std::string("Postgres"); };

INSTANTIATE_TEST_SUITE_P(Postgres, SourceContract, kPostgres, kPostgresName);
INSTANTIATE_TEST_SUITE_P(Postgres, SnapshotSourceContract, kPostgres, kPostgresName);
INSTANTIATE_TEST_SUITE_P(Postgres, PagesSourceContract, kPostgres, kPostgresName);
INSTANTIATE_TEST_SUITE_P(Postgres, ConcurrentSourceContract, kPostgres, kPostgresName);
INSTANTIATE_TEST_SUITE_P(Postgres, DefinedSourceContract, kPostgres, kPostgresName);
INSTANTIATE_TEST_SUITE_P(Postgres, NumberedSourceContract, kPostgres, kPostgresName);
INSTANTIATE_TEST_SUITE_P(Postgres, WatchedSourceContract, kPostgres, kPostgresName);
INSTANTIATE_TEST_SUITE_P(Postgres, ReindexedSourceContract, kPostgres, kPostgresName);
INSTANTIATE_TEST_SUITE_P(Postgres, RedefinedSourceContract, kPostgres, kPostgresName);

}  // namespace
}  // namespace lockstep
