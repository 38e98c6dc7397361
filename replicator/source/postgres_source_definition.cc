#include "replicator/error.h"
#include "replicator/source/postgres_definition.h"
#include "replicator/source/source_definition.h"

namespace lockstep {
namespace {

class PostgresSourceDefinition final : public SourceDefinition {
 public:
  explicit PostgresSourceDefinition(const Config& config)
      : pipeline_(config.pipeline),
        session_(config.source, config.pipeline + " apply"),
        definition_(session_, config) {}

  std::string identity() override {
    std::string identity;
    translating_postgres_errors("looking for the pipeline", [&] {
      pqxx::nontransaction direct(session_.connection());
      const std::string table = session_.schema() + ".pipeline";
      if (!direct.exec_params1("select to_regclass($1) is not null", table)[0].as<bool>()) return;
      const pqxx::result found =
          direct.exec_params("select identity::text from " + table + " where name = $1", pipeline_);
      if (!found.empty()) identity = found[0][0].c_str();
    });
    return identity;
  }

  std::vector<PlanStep> plan() override { return definition_.plan(); }
  void apply(const Progress& progress) override { definition_.apply({progress.step, progress.waiting}); }
  std::vector<PlanStep> removal_plan() override { return definition_.removal_plan(); }
  void remove(const Progress& progress) override { definition_.remove({progress.step, progress.waiting}); }
  std::vector<std::string> grants(const std::string& role) override { return definition_.grants(role); }

 private:
  std::string pipeline_;
  PostgresSession session_;
  PostgresDefinition definition_;
};

}  // namespace

std::unique_ptr<SourceDefinition> open_source_definition(const Config& config) {
  if (config.source.kind == SourceConfig::Kind::kSqlite) {
    throw UsageError("source.url: this build replicates from PostgreSQL only; use a postgresql:// url");
  }
  return std::make_unique<PostgresSourceDefinition>(config);
}

}  // namespace lockstep
