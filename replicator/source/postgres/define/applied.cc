#include "replicator/source/postgres/define/applied.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"

namespace lockstep {
namespace {

std::vector<std::string> strings(const pqxx::field& json) {
  return nlohmann::json::parse(json.c_str()).get<std::vector<std::string>>();
}

void load_captures(PostgresTransaction& transaction, AppliedObjects& state) {
  const pqxx::result rows =
      transaction.run_once(transaction.session().sql(postgres_sql("applied_captures")), *state.pipeline);
  for (const pqxx::row& row : rows) {
    AppliedCapture capture;
    capture.id = row[0].as<int>();
    constexpr std::string_view kTable = "capture";
    capture.relation = stored<std::string>(row[1], kTable);
    capture.expression = stored<std::string>(row[2], kTable);
    capture.value_type = stored<std::string>(row[3], kTable);
    if (!row[4].is_null()) capture.columns = strings(row[4]);
    state.captures.push_back(std::move(capture));
  }
}

void load_indices(PostgresTransaction& transaction, AppliedObjects& state) {
  const PostgresSession& session = transaction.session();
  std::map<int, std::string> aliases;
  // Before the first apply no row is the pipeline's.
  const pqxx::result rows =
      transaction.run_once(session.sql(postgres_sql("applied_indices")), state.pipeline.value_or(0));
  for (const pqxx::row& row : rows) {
    constexpr std::string_view kTable = "index";
    const auto alias = stored<std::string>(row[1], kTable);
    AppliedIndexRow& index = state.indices[alias];
    index.id = row[0].as<int>();
    index.view = stored<std::string>(row[2], kTable);
    index.id_type = stored<std::string>(row[3], kTable);
    index.routed = stored<bool>(row[4], kTable);
    require_stored(row[5], kTable);
    index.fields = strings(row[5]);
    index.definition = stored<std::string>(row[6], kTable);
    index.configured = row[7].c_str();
    index.followed = row[8].as<bool>();
    aliases[index.id] = alias;
  }
  for (const pqxx::row& row : transaction.run_once(
           session.sql("select index, capture, coalesce(resolver, '') from {schema}.track"))) {
    const auto alias = aliases.find(row[0].as<int>());
    if (alias == aliases.end()) {
      state.resolvers_of_others.insert(row[2].c_str());
    } else {
      state.indices[alias->second].tracks.emplace(row[1].as<int>(), row[2].c_str());
    }
  }
}

void load_generations(PostgresTransaction& transaction, AppliedObjects& state) {
  const std::string table = transaction.session().schema() + ".reindex";
  // A schema of an older Lockstep has no such table.
  if (transaction.run_once("select to_regclass($1) is null", table)[0][0].as<bool>()) return;
  for (const pqxx::row& row : transaction.run_once(
           "select beside, alias, kept_until is not null from " + table + " where pipeline = $1",
           *state.pipeline)) {
    for (auto& [alias, index] : state.indices) {
      if (row[0].is_null() || index.id != row[0].as<int>()) continue;
      index.beside = row[1].c_str();
      index.was_swapped = row[2].as<bool>();
    }
  }
}

void load_code(PostgresTransaction& transaction, const std::string& schema_name, AppliedObjects& state) {
  for (const pqxx::row& row : transaction.run_once(postgres_sql("applied_functions"), schema_name)) {
    state.functions[row[0].c_str()] = {row[1].c_str(), row[2].c_str(), row[3].as<bool>(), row[4].c_str()};
  }
  for (const pqxx::row& row : transaction.run_once(postgres_sql("applied_triggers"), schema_name)) {
    AppliedTrigger trigger;
    trigger.table_oid = row[0].as<unsigned>();
    trigger.table = row[1].c_str();
    trigger.name = row[2].c_str();
    trigger.quoted_name = row[3].c_str();
    trigger.function = row[4].c_str();
    trigger.type = row[5].as<int>();
    trigger.as_made = row[6].c_str() == std::string("A") && row[7].as<bool>();
    state.triggers.push_back(std::move(trigger));
  }
}

void load_parts(PostgresTransaction& transaction, AppliedObjects& state) {
  const PostgresSession& session = transaction.session();
  const std::string table = session.schema() + ".part";
  // A schema of an older Lockstep has no such table.
  if (transaction.run_once("select to_regclass($1) is null", table)[0][0].as<bool>()) return;
  for (const pqxx::row& row :
       transaction.run_once("select relation, table_oid, name, above <> " + session.schema() +
                                ".tables_above(table_oid) from " + table + " where pipeline = $1",
                            *state.pipeline)) {
    const auto part = row[1].as<unsigned>();
    state.parts[row[0].c_str()][part] = row[2].c_str();
    if (row[3].as<bool>()) state.moved_parts.emplace(row[0].c_str(), part);
  }
}

}  // namespace

bool has_own_tables(PostgresTransaction& transaction, const std::string& schema_name) {
  return transaction.run_once(postgres_sql("has_own_tables"), schema_name)[0][0].as<bool>();
}

AppliedObjects load_applied(PostgresTransaction& transaction, const std::string& schema_name,
                            const std::string& pipeline) {
  AppliedObjects state;
  state.has_schema = has_own_tables(transaction, schema_name);
  if (!state.has_schema) return state;
  // As JSON, because a schema of an older Lockstep lacks the column.
  const pqxx::result pipelines = transaction.run_once(transaction.session().sql(
      "select p.id, p.name, to_jsonb(p) ->> 'max_outbox_size' from {schema}.pipeline as p"));
  for (const pqxx::row& row : pipelines) {
    ++state.pipelines;
    if (row[1].c_str() != pipeline) continue;
    state.pipeline = row[0].as<int>();
    if (!row[2].is_null()) state.max_outbox_size = row[2].as<std::int64_t>();
  }
  load_code(transaction, schema_name, state);
  if (state.pipeline) load_captures(transaction, state);
  if (state.pipeline) load_parts(transaction, state);
  load_indices(transaction, state);
  if (state.pipeline) load_generations(transaction, state);
  return state;
}

}  // namespace lockstep
