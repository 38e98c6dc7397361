#include "replicator/source/sqlite/define/schema_reader.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "replicator/error.h"
#include "replicator/source/sqlite/catalog/compared_rows.h"
#include "replicator/source/sqlite/catalog/sql_tokens.h"
#include "replicator/source/sqlite/catalog/value_kind.h"
#include "replicator/source/sqlite/catalog/view_links.h"
#include "replicator/source/sqlite/catalog/view_reads.h"
#include "replicator/source/sqlite/session/sqlite_error.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"

namespace lockstep {
namespace {

constexpr const char* kReading = "reading the tables";

std::string quoted_column(const SqliteTable& table, const std::string& name) {
  return plain_or_quoted(table.column(name)->name);
}

}  // namespace

bool SqliteSchemaReader::is_applications(const SqliteTable& table) const {
  return table.kind == SqliteTable::Kind::kTable && !table.name.starts_with("sqlite_") &&
         !table.name.starts_with(connection_.schema() + "_");
}

TableGraph SqliteSchemaReader::tables() {
  const SqliteSnapshot snapshot(connection_, kReading);
  std::vector<SqliteTable> tables;
  SqliteStatement names(connection_, kReading,
                        "select name from pragma_table_list where schema = 'main' and type = 'table'");
  while (names.step()) {
    const std::optional<SqliteTable> table = find_table(connection_, std::string(names[0].text()));
    if (table && is_applications(*table)) tables.push_back(*table);
  }
  TableGraph graph;
  for (const SqliteTable& table : tables) {
    const GraphTable found = described(table);
    graph.emplace(found.name, found);
  }
  add_foreign_keys(tables, graph);
  return graph;
}

GraphTable SqliteSchemaReader::described(const SqliteTable& table) {
  GraphTable described;
  described.name = described.alias = plain_or_quoted(table.name);
  described.own = table.name;
  std::vector<std::string> empty;
  described.columns = look_at_rows(table, empty);
  for (const SqliteTableColumn* column : table.primary_key())
    described.key.push_back(plain_or_quoted(column->name));
  described.indices = indices_of(table);
  return described;
}

// One that refers to a missing table or column is ignored.
void SqliteSchemaReader::add_foreign_keys(const std::vector<SqliteTable>& tables, TableGraph& graph) {
  for (const SqliteTable& table : tables) {
    std::map<std::int64_t, ForeignKey> keys;
    SqliteStatement rows(
        connection_, kReading,
        "select id, \"table\", \"from\", \"to\", seq from pragma_foreign_key_list(?1, 'main') "
        "order by id, seq",
        table.name);
    while (rows.step()) {
      const auto other = std::find_if(tables.begin(), tables.end(), [&](const SqliteTable& candidate) {
        return is_same_name(candidate.name, rows[1].text());
      });
      if (other == tables.end()) continue;
      const std::vector<const SqliteTableColumn*> primary = other->primary_key();
      const auto place = static_cast<std::size_t>(rows[4].integer());
      const SqliteTableColumn* from = table.column(rows[2].text());
      const SqliteTableColumn* to = nullptr;  // without a name: the column of the primary key
      if (!rows[3].is_null()) to = other->column(rows[3].text());
      if (rows[3].is_null() && place < primary.size()) to = primary[place];
      ForeignKey& key = keys[rows[0].integer()];
      key.table = plain_or_quoted(other->name);
      key.columns.push_back(from == nullptr ? "" : plain_or_quoted(from->name));
      key.references.push_back(to == nullptr ? "" : plain_or_quoted(to->name));
    }
    for (const auto& [id, key] : keys) {
      const auto is_missing = [](const std::string& name) { return name.empty(); };
      if (std::none_of(key.columns.begin(), key.columns.end(), is_missing) &&
          std::none_of(key.references.begin(), key.references.end(), is_missing))
        graph.at(plain_or_quoted(table.name)).foreign_keys.push_back(key);
    }
  }
}

// Those of all rows, up to the first column that is an expression.
std::vector<ColumnNames> SqliteSchemaReader::indices_of(const SqliteTable& table) {
  std::vector<ColumnNames> indices;
  for (const SqliteUnique& unique : table.uniques) {
    if (unique.is_row_number) indices.push_back({unquoted_name(unique.columns.front().expression)});
  }
  SqliteStatement names(connection_, kReading,
                        "select name from pragma_index_list(?1, 'main') where not partial order by name",
                        table.name);
  while (names.step()) {
    ColumnNames& columns = indices.emplace_back();
    SqliteStatement parts(connection_, kReading,
                          "select name from pragma_index_xinfo(?1, 'main') where key order by seqno",
                          names[0].text());
    while (parts.step() && !parts[0].is_null()) columns.emplace_back(parts[0].text());
  }
  for (ColumnNames& columns : indices) {
    for (std::string& column : columns) column = quoted_column(table, column);
  }
  return indices;
}

ViewShape SqliteSchemaReader::view(const std::string& name) {
  const SqliteSnapshot snapshot(connection_, "reading the view");
  return described_view(name);
}

ViewShape SqliteSchemaReader::drafted_view(const std::string& name, const std::string& statements) {
  const char* const kTrying = "trying the view";
  const SqliteWrite transaction(connection_, kTrying);
  try {
    connection_.execute(kTrying, statements);
  } catch (const SqliteError& error) {
    if (error.retryable()) throw;
    throw UsageError("the database refuses the view " + name + ": " + error.parts().cause);
  }
  return described_view(name);
}

ViewShape SqliteSchemaReader::described_view(const std::string& name) {
  const std::optional<SqliteTable> view = find_table(connection_, name);
  if (!view) throw UsageError("there is no view " + name);
  if (view->kind != SqliteTable::Kind::kView)
    throw UsageError(view->name + " is a " + std::string(kind_name(view->kind)) +
                     ", not a view; for a table give --table");
  if (!view->complaint.empty())
    throw UsageError("view " + view->name + " cannot be read: " + view->complaint);
  if (view->column("_id") == nullptr)
    throw UsageError("view " + view->name +
                     " has no column _id; name the column that identifies its documents: select … as _id");
  ViewShape shape;
  shape.name = plain_or_quoted(view->name);
  std::vector<std::string> empty;
  shape.columns = look_at_rows(*view, empty);
  for (const std::string& column : empty) {
    if (!column.starts_with('_'))
      shape.unknown.push_back("the contents of column " + column +
                              ": no row has a value yet; its mapping is that of a text; change it before you "
                              "apply, and name the column in json = [...] if it holds JSON");
  }
  const SqliteViewReads reads = read_view(connection_, view->name);
  for (const std::string& clause : clauses_that_compare_rows(connection_, reads.views))
    shape.unknown.push_back(
        "which other documents a changed row changes, for the view has " + clause +
        "; add a track with row and keys to all of them, unless they are of one document");
  for (const auto& [read, columns] : reads.tables) {
    const std::optional<SqliteTable> table = find_table(connection_, read);
    if (!table || !is_applications(*table)) {
      shape.unknown.push_back("when " + read + " changes, which can have no triggers");
      continue;
    }
    shape.reads.insert(plain_or_quoted(table->name));
  }
  const SqliteViewLinks links = read_view_links(connection_, view->name);
  shape.graph = links.graph;
  shape.recursive = links.recursive;
  return shape;
}

// Adds to `empty` the names of columns that have neither a value nor a type.
std::vector<GraphColumn> SqliteSchemaReader::look_at_rows(const SqliteTable& table,
                                                          std::vector<std::string>& empty) {
  std::vector<SqliteValuesSeen> seen(table.columns.size());
  SqliteStatement rows(connection_, "looking at rows of " + table.name,
                       SqliteText{"select * from " + table.quoted + " limit 100"});
  while (rows.step()) {
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i].add(rows[static_cast<int>(i)]);
  }
  std::vector<GraphColumn> columns;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const SqliteTableColumn& column = table.columns[i];
    const ValueKind declared = declared_kind(column.type);
    const bool known = !seen[i].empty();
    columns.push_back({column.name, plain_or_quoted(column.name), column.type, "=",
                       known ? seen[i].kind(declared) : declared,
                       known ? seen[i].are_json() : is_json_type(column.type)});
    if (!known && column.type.empty()) empty.push_back(column.name);
  }
  return columns;
}

bool SqliteSchemaReader::has(const std::string& name) {
  return find_table(connection_, name).has_value();
}

std::string SqliteSchemaReader::view_for(const std::string& table) {
  return plain_or_quoted("search_" + table);
}

}  // namespace lockstep
