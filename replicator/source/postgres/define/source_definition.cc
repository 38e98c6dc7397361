#include "replicator/source/source_definition.h"

#include "replicator/error.h"
#include "replicator/source/postgres/define/definition.h"
#include "replicator/source/postgres/define/preflight.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {
namespace {

class PostgresSourceDefinition final : public SourceDefinition {
 public:
  explicit PostgresSourceDefinition(const Config& config)
      : config_(config), session_(config.source, config.pipeline + " apply"), definition_(session_, config) {}

  std::string server() override {
    const std::string version = value("asking for the version", "show server_version");
    return "PostgreSQL " + version.substr(0, version.find(' '));
  }

  std::string user() override { return value("asking for the role", "select current_user"); }

  std::vector<Finding> check() override { return check_postgres(session_, config_); }

  std::string identity() override {
    const std::vector<std::string> found =
        ask("looking for the pipeline", "select identity::text from {schema}.pipeline where name = $1");
    return found.empty() ? "" : found.front();
  }

  std::vector<std::string> applied_aliases() override {
    return ask("looking for the pipeline's indices", postgres_sql("applied_aliases"));
  }

  void refill(const std::vector<std::string>& aliases) override {
    PostgresTransaction transaction(session_, "asking for a backfill");
    transaction.run_once(session_.sql(postgres_sql("refill_indices")), config_.pipeline,
                         array_literal(aliases), "the index was recreated");
    transaction.commit();
  }

  std::vector<PlanStep> plan() override { return definition_.plan(); }
  void apply(const Progress& progress) override { definition_.apply(progress); }
  std::vector<PlanStep> removal_plan() override { return definition_.removal_plan(); }
  void remove(const Progress& progress) override { definition_.remove(progress); }
  std::vector<std::string> privileges_for(const std::string& user) override {
    return definition_.grants(user);
  }

 private:
  std::string value(std::string_view doing, std::string_view query) {
    return PostgresTransaction(session_, doing, Isolation::kEachStatement).run_once(query)[0][0].c_str();
  }

  // The first column of a query about the pipeline ($1: its name). Empty before the first apply.
  std::vector<std::string> ask(std::string_view doing, std::string_view query) {
    PostgresTransaction transaction(session_, doing, Isolation::kEachStatement);
    std::vector<std::string> values;
    const std::string table = session_.schema() + ".pipeline";
    if (!transaction.run_once("select to_regclass($1) is not null", table)[0][0].as<bool>()) return values;
    for (const pqxx::row& row : transaction.run_once(session_.sql(query), config_.pipeline))
      values.emplace_back(row[0].c_str());
    return values;
  }

  const Config& config_;
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
