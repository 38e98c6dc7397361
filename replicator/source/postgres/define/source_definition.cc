#include "replicator/source/postgres/define/source_definition.h"

#include <optional>

#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/view_shape.h"
#include "replicator/source/postgres/define/exposure.h"
#include "replicator/source/postgres/define/preflight.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

PostgresSourceDefinition::PostgresSourceDefinition(const Config& config)
    : config_(config), session_(config.source, config.pipeline + " apply"), definition_(session_, config) {}

std::string PostgresSourceDefinition::server() {
  const std::string version = value("asking for the version", "show server_version");
  return "PostgreSQL " + version.substr(0, version.find(' '));
}

std::string PostgresSourceDefinition::user() {
  return value("asking for the role", "select current_user");
}

std::vector<Finding> PostgresSourceDefinition::check() {
  std::vector<Finding> findings = check_postgres(session_, config_);
  for (Finding& finding : exposure_of_postgres(session_, config_.source)) {
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::map<std::string, std::vector<std::string>> PostgresSourceDefinition::document_fields() {
  PostgresTransaction transaction(session_, "looking for the fields of documents");
  std::map<std::string, std::vector<std::string>> fields;
  for (const IndexConfig& index : config_.indices) {
    std::string why;
    const std::optional<PostgresRelation> view = find_relation(transaction, index.view, why);
    if (view) fields[index.alias] = shape_of(*view, {}).fields;
  }
  return fields;
}

std::string PostgresSourceDefinition::identity() {
  const std::vector<std::string> found =
      ask("looking for the pipeline", "select identity::text from {schema}.pipeline where name = $1");
  return found.empty() ? "" : found.front();
}

std::vector<std::string> PostgresSourceDefinition::applied_aliases() {
  return ask("looking for the pipeline's indices", postgres_sql("applied_aliases"));
}

void PostgresSourceDefinition::refill(const std::vector<std::string>& aliases, const std::string& reason) {
  PostgresTransaction transaction(session_, "asking for a backfill");
  transaction.run_once(session_.sql(postgres_sql("refill_indices")), config_.pipeline, array_literal(aliases),
                       reason);
  transaction.commit();
}

std::string PostgresSourceDefinition::value(std::string_view doing, std::string_view query) {
  return PostgresTransaction(session_, doing, Isolation::kEachStatement).run_once(query)[0][0].c_str();
}

std::vector<std::string> PostgresSourceDefinition::ask(std::string_view doing, std::string_view query) {
  PostgresTransaction transaction(session_, doing, Isolation::kEachStatement);
  std::vector<std::string> values;
  const std::string table = session_.schema() + ".pipeline";
  if (!transaction.run_once("select to_regclass($1) is not null", table)[0][0].as<bool>()) return values;
  for (const pqxx::row& row : transaction.run_once(session_.sql(query), config_.pipeline))
    values.emplace_back(row[0].c_str());
  return values;
}

}  // namespace lockstep
