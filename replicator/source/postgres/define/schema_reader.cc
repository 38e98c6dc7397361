#include "replicator/source/postgres/define/schema_reader.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/catalog/node_tree.h"
#include "replicator/source/postgres/catalog/view_links.h"
#include "replicator/source/postgres/catalog/view_reads.h"
#include "replicator/source/postgres/define/trust.h"
#include "replicator/source/postgres/session/login.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

constexpr const char* kShapesTimeLimit = "5s";  // for the look at the rows of one column

ColumnNames names_in(const pqxx::field& json) {
  return nlohmann::json::parse(json.c_str()).get<ColumnNames>();
}

// A type of the server's own, by its name in pg_type.
ValueKind kind_called(const std::string& name) {
  static const std::map<std::string, ValueKind> kinds = {
      {"int2", ValueKind::kShort},       {"int4", ValueKind::kInteger},     {"int8", ValueKind::kLong},
      {"oid", ValueKind::kLong},         {"float4", ValueKind::kFloat},     {"float8", ValueKind::kDouble},
      {"numeric", ValueKind::kDouble},   {"bool", ValueKind::kBoolean},     {"date", ValueKind::kDate},
      {"timestamp", ValueKind::kDate},   {"timestamptz", ValueKind::kDate}, {"text", ValueKind::kText},
      {"varchar", ValueKind::kText},     {"bpchar", ValueKind::kText},      {"name", ValueKind::kKeyword},
      {"uuid", ValueKind::kKeyword},     {"time", ValueKind::kKeyword},     {"timetz", ValueKind::kKeyword},
      {"interval", ValueKind::kKeyword}, {"money", ValueKind::kKeyword},    {"char", ValueKind::kKeyword},
      {"inet", ValueKind::kKeyword},     {"cidr", ValueKind::kKeyword},     {"macaddr", ValueKind::kKeyword},
      {"json", ValueKind::kObject},      {"jsonb", ValueKind::kObject},
  };
  const auto found = kinds.find(name);
  return found == kinds.end() ? ValueKind::kOpaque : found->second;
}

ValueKind kind_of_shapes(const std::set<std::string>& shapes) {
  if (shapes == std::set<std::string>{"object"}) return ValueKind::kObject;
  if (shapes == std::set<std::string>{"string"}) return ValueKind::kText;
  if (shapes == std::set<std::string>{"number"}) return ValueKind::kDouble;
  if (shapes == std::set<std::string>{"boolean"}) return ValueKind::kBoolean;
  return ValueKind::kMixed;
}

}  // namespace

PostgresSchemaReader::PostgresSchemaReader(const SourceConfig& source) try
    : source_(source), session_(source, "init") {
} catch (const RefusedLogin& error) {
  throw error.of_command_line();  // there is no configuration yet
}

TableGraph PostgresSchemaReader::tables() {
  PostgresTransaction transaction(session_, "reading the tables", Isolation::kRepeatableReadOnly);
  TableGraph graph;
  std::map<unsigned, GraphTable*> by_oid;
  for (const pqxx::row& row : transaction.run_once(postgres_sql("user_tables"), source_.schema)) {
    const PostgresRelation relation = describe_relation(transaction, row[0].as<unsigned>());
    GraphTable& table = graph[relation.name];
    table.name = relation.name;
    table.alias = relation.alias;
    table.own = row[1].c_str();
    table.schema = relation.schema;
    table.partitioned = relation.kind == 'p';
    for (const PostgresColumn& column : relation.columns) {
      table.columns.push_back(column_of(transaction, column));
      look_at(transaction, relation.name, table.columns.back());
    }
    for (const PostgresColumn* column : relation.primary_key()) table.key.push_back(column->quoted);
    by_oid[relation.oid] = &table;
  }
  for (const pqxx::row& row : transaction.run_once(postgres_sql("user_foreign_keys"))) {
    const auto from = by_oid.find(row[0].as<unsigned>());
    const auto to = by_oid.find(row[1].as<unsigned>());
    if (from == by_oid.end() || to == by_oid.end()) continue;
    from->second->foreign_keys.push_back({names_in(row[2]), to->second->name, names_in(row[3]),
                                          row[4].is_null() ? "" : row[4].c_str(),
                                          row[5].is_null() ? "" : row[5].c_str()});
  }
  for (const pqxx::row& row : transaction.run_once(postgres_sql("user_indices"))) {
    const auto table = by_oid.find(row[0].as<unsigned>());
    if (table != by_oid.end()) table->second->indices.push_back(names_in(row[1]));
  }
  return graph;
}

ViewShape PostgresSchemaReader::view(const std::string& name) {
  PostgresTransaction transaction(session_, "reading the view");
  return view(transaction, name);
}

ViewShape PostgresSchemaReader::drafted_view(const std::string& name, const std::string& statements) {
  PostgresTransaction transaction(session_, "trying the view");
  try {
    transaction.execute(statements);
  } catch (const PostgresError& error) {
    if (error.retryable()) throw;
    throw UsageError("the database refuses the view " + name + ": " + error.parts().cause);
  }
  return view(transaction, name);
}

ViewShape PostgresSchemaReader::view(PostgresTransaction& transaction, const std::string& name) {
  std::string why;
  const std::optional<PostgresRelation> view = find_relation(transaction, name, why, Wanted::kView);
  if (!view) throw UsageError(why);
  if (view->kind != 'v')
    throw UsageError(view->name + " is a " + std::string(kind_name(view->kind)) +
                     ", not a view; for a table give --table");
  const PostgresColumn* id = view->column("_id");
  if (id == nullptr)
    throw UsageError(
        "view " + view->name +
        " has no column _id; name the column that identifies its documents: " + "select … as _id");
  require_trust(transaction, view->name);
  ViewShape shape;
  shape.name = view->name;
  for (const PostgresColumn& column : view->columns) {
    GraphColumn described = column_of(transaction, column);
    if (const std::string unclear = look_at(transaction, view->name, described); !unclear.empty())
      shape.unknown.push_back("the contents of column " + described.quoted + ", so it cannot be searched: " +
                              unclear + "; change its mapping before you apply");
    shape.columns.push_back(std::move(described));
  }
  const ViewReads reads = read_view(transaction, view->oid);
  for (const std::string& function : reads.opaque)
    shape.unknown.push_back("what " + function + " reads; write tracks for it by hand");
  for (const std::string& list : reads.unordered)
    shape.unknown.push_back("in which order " + list +
                            " takes rows; write it into the call: json_agg(… order by …)");
  std::map<unsigned, PostgresRelation> known;
  const auto describe = [&](unsigned oid) -> const PostgresRelation& {
    const auto found = known.find(oid);
    return found != known.end() ? found->second
                                : known.emplace(oid, describe_relation(transaction, oid)).first->second;
  };
  for (const auto& [oid, table] : reads.tables) {
    if (table.kind == 'r' || table.kind == 'p')
      shape.reads.insert(describe(oid).whole);
    else
      shape.unknown.push_back("when " + std::string(kind_name(table.kind)) + " " + table.name + " changes");
  }
  try {
    const ViewLinks links = read_links(transaction, view->oid, id->number);
    shape.recursive = links.recursive;
    shape.graph = named_graph(transaction, links, describe);
  } catch (const NodeTreeError& error) {
    throw Error({.doing = "reading the joins of the view", .cause = error.what()});
  }
  return shape;
}

bool PostgresSchemaReader::has(const std::string& name) {
  PostgresTransaction transaction(session_, "looking for a name");
  std::string why;
  return find_relation(transaction, name, why).has_value();
}

std::string PostgresSchemaReader::view_for(const std::string& table) {
  PostgresTransaction transaction(session_, "quoting a name");
  return "search." + transaction.run_once("select quote_ident($1)", table)[0][0].as<std::string>();
}

GraphColumn PostgresSchemaReader::column_of(PostgresTransaction& transaction, const PostgresColumn& column) {
  return {column.name, column.quoted, column.type, column.equality, kind_of(transaction, column.type_oid)};
}

ValueKind PostgresSchemaReader::kind_of(PostgresTransaction& transaction, unsigned type_oid) {
  const auto known = kinds_.find(type_oid);
  if (known != kinds_.end()) return known->second;
  const pqxx::row type = only_row(transaction.run_once(postgres_sql("value_kinds"), type_oid));
  ValueKind kind = kind_called(type[1].c_str());
  const std::string sort = type[0].as<std::string>();
  if (sort == "e") kind = ValueKind::kKeyword;
  if (sort == "c") kind = ValueKind::kObject;                                                   // a row
  if (kind == ValueKind::kOpaque && type[2].as<std::string>() == "S") kind = ValueKind::kText;  // citext
  return kinds_[type_oid] = kind;
}

// Reading a view runs its owner's code with the rights of this session.
void PostgresSchemaReader::require_trust(PostgresTransaction& transaction, const std::string& view) {
  Config config;
  config.source = source_;
  config.indices.emplace_back().view = view;
  const std::vector<LentRight> lent = lent_rights(transaction, config);
  if (!lent.empty()) throw UsageError(in_words(lent.front()) + "; let --source name the owner of the view");
}

std::string PostgresSchemaReader::look_at(PostgresTransaction& transaction, const std::string& relation,
                                          GraphColumn& column) {
  if (column.kind != ValueKind::kObject) return "";
  std::set<std::string> shapes;
  const std::optional<Complaint> complaint = complaint_about(
      transaction,
      {std::string("set local statement_timeout = '") + kShapesTimeLimit + "'",
       fill_placeholders(postgres_sql("json_shapes"), {{"column", column.quoted}, {"view", relation}})},
      [&](const pqxx::result& result) {
        for (const pqxx::row& row : result) shapes.insert(row[0].c_str());
      });
  column.kind = kind_of_shapes(shapes);
  if (complaint) return complaint->message;
  return shapes.empty() ? "no row has a value yet" : "";
}

}  // namespace lockstep
