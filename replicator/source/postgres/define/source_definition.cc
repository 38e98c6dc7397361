#include "replicator/source/source_definition.h"

#include "replicator/error.h"
#include "replicator/source/postgres/define/definition.h"
#include "replicator/source/postgres/define/preflight.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

class PostgresSourceDefinition final : public SourceDefinition {
 public:
  explicit PostgresSourceDefinition(const Config& config)
      : config_(config),
        pipeline_(config.pipeline),
        session_(config.source, config.pipeline + " apply"),
        definition_(session_, config) {}

  std::string server() override {
    std::string version;
    translating_postgres_errors("asking for the version", [&] {
      version = pqxx::nontransaction(session_.connection()).exec1("show server_version")[0].c_str();
    });
    return "PostgreSQL " + version.substr(0, version.find(' '));
  }

  std::string user() override {
    std::string user;
    translating_postgres_errors("asking for the role", [&] {
      user = pqxx::nontransaction(session_.connection()).exec1("select current_user")[0].c_str();
    });
    return user;
  }

  std::vector<Finding> check() override { return check_postgres(session_, config_); }

  std::string identity() override {
    const std::vector<std::string> found =
        ask("looking for the pipeline", "select identity::text from {schema}.pipeline where name = $1");
    return found.empty() ? "" : found.front();
  }

  std::vector<std::string> applied_aliases() override {
    return ask("looking for the pipeline's indices",
               "select i.alias from {schema}.index as i join {schema}.pipeline as p on p.id = i.pipeline "
               "where p.name = $1 order by i.id");
  }

  void refill(const std::vector<std::string>& aliases) override {
    translating_postgres_errors("asking for a backfill", [&] {
      pqxx::work transaction(session_.connection());
      transaction.exec_params(session_.sql(postgres_sql("refill_indices")), pipeline_, array_literal(aliases),
                              "the index was made anew");
      transaction.commit();
    });
  }

  std::vector<PlanStep> plan() override { return definition_.plan(); }
  void apply(const Progress& progress) override { definition_.apply({progress.step, progress.waiting}); }
  std::vector<PlanStep> removal_plan() override { return definition_.removal_plan(); }
  void remove(const Progress& progress) override { definition_.remove({progress.step, progress.waiting}); }
  std::vector<std::string> privileges_for(const std::string& user) override {
    return definition_.grants(user);
  }

 private:
  // The first column of a query about the pipeline ($1: its name); nothing before the first apply.
  std::vector<std::string> ask(const char* doing, std::string_view query) {
    std::vector<std::string> values;
    translating_postgres_errors(doing, [&] {
      pqxx::nontransaction direct(session_.connection());
      const std::string table = session_.schema() + ".pipeline";
      if (!direct.exec_params1("select to_regclass($1) is not null", table)[0].as<bool>()) return;
      for (const pqxx::row& row : direct.exec_params(session_.sql(query), pipeline_)) {
        values.emplace_back(row[0].c_str());
      }
    });
    return values;
  }

  const Config& config_;
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
