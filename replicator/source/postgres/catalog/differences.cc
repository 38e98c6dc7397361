#include "replicator/source/postgres/catalog/differences.h"

#include <algorithm>
#include <utility>

#include "replicator/listed.h"
#include "replicator/source/index_definition.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/warnings.h"

namespace lockstep {
namespace {

// A row of `read_definitions`.
struct StoredDefinition {
  explicit StoredDefinition(const pqxx::row& row)
      : index(row[0].as<int>()),
        alias(row[1].c_str()),
        view(row[2].c_str()),
        definition(row[4].c_str()),
        is_searched(row[5].as<bool>() && !row[6].as<bool>()),
        is_same(row[7].as<bool>()) {
    if (!row[3].is_null()) view_oid = row[3].as<unsigned>();
  }

  int index;
  std::string alias;
  std::string view;
  std::string definition;
  std::optional<unsigned> view_oid;  // none: it is gone
  bool is_searched;
  bool is_same;
};

std::vector<StoredDefinition> read_definitions(PostgresTransaction& transaction, int pipeline) {
  static const std::string kStatement = read_definitions_sql();
  const Doing reading("looking for definitions that have changed since the last apply");
  std::vector<StoredDefinition> definitions;
  for (const pqxx::row& row : transaction.run(reading, kStatement, pipeline)) definitions.emplace_back(row);
  return definitions;
}

Difference difference_of(PostgresTransaction& transaction, const StoredDefinition& stored) {
  if (!stored.view_oid) return {warning("view_gone", {stored.view})};
  const ViewParts now = read_view_parts(transaction, *stored.view_oid, stored_whole_rows(stored.definition));
  if (!is_view_parts(stored.definition)) return {warning("older_lockstep", {stored.alias, stored.view})};
  const PartsComparison parts = now.compared_with(transaction, stored.definition);
  if (!parts.changed.empty()) {
    return {warning("parts_changed", {stored.alias, listed(parts.changed)}), false,
            DefinitionNote{stored.index, stored.definition,
                           marked_as_changed(stored.definition, parts.changed), ""}};
  }
  DefinitionNote note{stored.index, stored.definition, now.text(), ""};
  if (parts.replaced.empty()) return {"", false, std::move(note)};
  note.why = reason_to_compare(parts.replaced);
  return {warning("compared", {stored.alias, note.why}), false, std::move(note)};
}

}  // namespace

bool are_as_stored(PostgresTransaction& transaction, int pipeline) {
  const std::vector<StoredDefinition> definitions = read_definitions(transaction, pipeline);
  return std::all_of(definitions.begin(), definitions.end(),
                     [](const StoredDefinition& stored) { return stored.is_same; });
}

std::vector<Difference> altered_indices(PostgresTransaction& transaction, int pipeline,
                                        Generations generations) {
  std::vector<Difference> differences;
  for (const StoredDefinition& stored : read_definitions(transaction, pipeline)) {
    if (stored.is_same || (generations == Generations::kSearched && !stored.is_searched)) continue;
    differences.push_back(difference_of(transaction, stored));
  }
  return differences;
}

std::string is_subscribed_sql(std::string_view table) {
  return fill_placeholders(postgres_sql("is_subscribed"), {{"table", std::string(table)}});
}

std::vector<Difference> differences_from_applied(PostgresTransaction& transaction, int pipeline,
                                                 const std::string& schema_name) {
  const std::string statement = fill_placeholders(
      postgres_sql("differences_from_applied"),
      {{"schema", transaction.session().schema()}, {"subscribed", is_subscribed_sql("w.oid")}});
  std::vector<Difference> differences = altered_indices(transaction, pipeline, Generations::kAll);
  std::vector<std::string> changed;
  for (const Difference& difference : differences) {
    if (difference.note && !difference.text.empty())
      changed.push_back(std::to_string(difference.note->index));
  }
  const Doing comparing("looking for changes since the last apply");
  for (const pqxx::row& row :
       transaction.run_filled(comparing, statement, pipeline, schema_name, array_literal(changed)))
    differences.push_back({stored_warning(row[1].c_str(), row[2].c_str()), row[0].as<bool>()});
  for (const pqxx::row& row :
       transaction.run(comparing, postgres_sql("check_functions"), pipeline, schema_name)) {
    const std::string function = row[0].c_str();
    if (!row[1].as<bool>()) {
      differences.push_back(
          {"whether triggers fit their table is not known without the right to execute function " + function +
               "; `lockstep check` names the grant",
           false});
      continue;
    }
    const pqxx::result found = transaction.run(comparing, "select " + function);
    if (!found[0][0].is_null()) differences.push_back({found[0][0].c_str(), false});
  }
  return differences;
}

}  // namespace lockstep
