// PostgreSQL under the contract of Source.
#include "replicator/config/config.h"
#include "replicator/source/open_source.h"
#include "replicator/source/postgres/define/definition.h"
#include "tests/contract/source_contract.h"
#include "tests/support/postgres_database.h"

namespace lockstep {
namespace {

class PostgresWriter final : public SourceWriter {
 public:
  explicit PostgresWriter(const support::PostgresDatabase& database) : connection_(database.connect()) {}

  void execute(const std::string& sql) override { support::execute(*connection_, sql); }

 private:
  std::unique_ptr<pqxx::connection> connection_;
};

class PostgresWorld final : public SourceWorld {
 public:
  PostgresWorld() {
    database_.execute(
        "create table thing (id integer primary key, n integer not null); "
        "create table part (id integer primary key, thing_id integer not null); "
        "create view docs as select t.id as _id, t.n, "
        "(select array_agg(p.id order by p.id) from part p where p.thing_id = t.id) as parts "
        "from thing t where t.n >= 0");
    config_.source.url = database_.url();
    config_.source.password = Secret(database_.password());
    IndexConfig index;
    index.alias = "docs";
    index.view = "public.docs";
    TrackConfig things;
    things.table = "public.thing";
    TrackConfig parts;
    parts.table = "public.part";
    parts.row = "thing_id";
    index.tracks = {things, parts};
    config_.indices = {index};
    PostgresSession session(config_.source, "contract");
    PostgresDefinition(session, config_).apply({});
  }

  std::unique_ptr<Source> open() override { return open_source(config_, "contract"); }
  std::unique_ptr<SourceWriter> writer() override { return std::make_unique<PostgresWriter>(database_); }
  bool has_concurrent_writers() const override { return true; }

  void commit_lazily(const std::string& sql) override {
    database_.execute("set synchronous_commit = off");
    database_.execute(sql);
    committed_at_ = *database_.value("select pg_current_wal_insert_lsn()");
  }
  bool is_durable() override {
    return database_.value("select pg_current_wal_flush_lsn() >= '" + committed_at_ + "'") == "t";
  }

 private:
  support::PostgresDatabase database_;
  Config config_;
  std::string committed_at_;
};

INSTANTIATE_TEST_SUITE_P(Postgres, SourceContract,
                         testing::Values(MakeWorld([] { return std::make_unique<PostgresWorld>(); })),
                         [](const auto&) { return std::string("Postgres"); });

}  // namespace
}  // namespace lockstep
