#include "replicator/source/sqlite/define/resolver.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>

#include "replicator/source/sqlite/catalog/column_origin.h"
#include "replicator/source/sqlite/catalog/view_reads.h"
#include "replicator/source/sqlite/session/exact_value.h"

namespace lockstep {
namespace {

constexpr const char* kLookingAtQuery = "looking at a query of the configuration";

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

// Prepared to be looked at. Throws SqliteError.
Prepared prepare(SqliteConnection& connection, const std::string& query) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection.handle(), query.c_str(), static_cast<int>(query.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) throw sqlite_error(kLookingAtQuery, connection.handle(), code);
  return Prepared(statement);
}

std::string without_semicolon(const std::string& query) {
  const std::size_t end = query.find_last_not_of("; \t\r\n");
  return end == std::string::npos ? "" : query.substr(0, end + 1);
}

SqliteResolver from_column(SqliteConnection& connection, const SqliteTable& view, const std::string& name) {
  SqliteResolver resolver;
  const SqliteTableColumn* const column = view.column(name);
  if (column == nullptr) {
    resolver.fault = "column: view " + view.name + " has no column " + name;
    resolver.remedy = "add it to the view; one whose name begins with _ stays out of the documents";
    return resolver;
  }
  const auto select = [](const std::string& id, const std::string& from, const std::string& matched) {
    return "select " + id + " from " + from + " where " + matched + " in (" + std::string(kExactValues) + ")";
  };
  resolver.query = select("_id", view.quoted, column->quoted);
  const std::optional<SqliteColumnOrigin> id = column_origin(connection, view.name, "_id");
  const std::optional<SqliteColumnOrigin> matched = column_origin(connection, view.name, column->name);
  if (!id || !matched || id->table != matched->table) {
    resolver.warning = "column: _id and " + name + " of view " + view.name +
                       " do not come from one table, so the view itself is asked; a document that a change "
                       "takes out of the view is not found any more";
    resolver.remedy =
        "if that can happen, give keys = \"select … in (select value from json_each($1))\" to find "
        "the documents in tables";
    return resolver;
  }
  // A document that this very change has taken out of the view is still in the table. The view may have two
  // rows of the table in one of its own, so it is asked as well.
  resolver.query += "\nunion\n" + select(quote_sqlite_name(id->column), quote_sqlite_name(id->table),
                                         quote_sqlite_name(matched->column));
  return resolver;
}

SqliteResolver from_keys(SqliteConnection& connection, const std::string& keys) {
  SqliteResolver resolver;
  resolver.query = without_semicolon(keys);
  try {
    // The line break keeps a comment at the end from swallowing the bracket.
    const Prepared statement = prepare(connection, "select * from (\n" + resolver.query + "\n)");
    if (sqlite3_bind_parameter_count(statement.get()) != 1) {
      resolver.fault = "keys: the query has " +
                       std::to_string(sqlite3_bind_parameter_count(statement.get())) + " parameters";
      resolver.remedy = "let it use $1, a JSON array of the row's values: json_each($1)";
    } else if (sqlite3_column_count(statement.get()) != 1) {
      resolver.fault =
          "keys: the query has " + std::to_string(sqlite3_column_count(statement.get())) + " columns";
      resolver.remedy = "let it return one, the _id of the documents";
    }
    if (resolver.fault.empty() && sqlite3_stmt_readonly(statement.get()) == 0) {
      resolver.fault = "keys: the query changes the database";
      resolver.remedy = "let it only read";
    }
  } catch (const SqliteError& error) {
    if (error.retryable()) throw;
    resolver.fault = "keys: " + error.parts().cause;
    resolver.remedy = "it must be a query with the parameter $1, a JSON array for json_each($1)";
  }
  return resolver;
}

}  // namespace

SqliteResolver make_resolver(SqliteConnection& connection, const SqliteTable& view,
                             const TrackConfig& track) {
  if (!track.keys.empty()) return from_keys(connection, track.keys);
  if (!track.column.empty()) return from_column(connection, view, track.column);
  return {};
}

RowExpression describe_expression(SqliteConnection& connection, const SqliteTable& table,
                                  const std::string& expression) {
  RowExpression row;
  try {
    const std::set<std::string> read = columns_read(connection, expression, table.name);
    row.columns.assign(read.begin(), read.end());
  } catch (const SqliteError& error) {
    if (error.retryable()) throw;
    row.fault = "row: " + error.parts().cause + " (table " + table.name + ")";
    return row;
  }
  if (row.columns.empty()) {
    row.fault = "row: the expression reads no column of table " + table.name;
    return row;
  }
  std::string columns;
  for (std::size_t i = 0; i < row.columns.size(); ++i) {
    const std::string value =
        row.columns.size() == 1 ? "value" : "json_extract(value, '$[" + std::to_string(i) + "]')";
    columns += (i == 0 ? "lockstep_value(" : ", lockstep_value(") + value + ")" + " as " +
               quote_sqlite_name(row.columns[i]);
  }
  // In a subquery of its own an aggregate sees one row at a time.
  row.query = "select (select (" + expression + "\n) from (select " + columns + ") as " + table.quoted +
              ") from json_each(?1)";
  try {
    prepare(connection, row.query);
  } catch (const SqliteError& error) {
    if (error.retryable()) throw;
    row.fault = "row: " + error.parts().cause + " (table " + table.name + ")";
  }
  return row;
}

std::string id_type_of(SqliteConnection& connection, const std::string& view) {
  const std::optional<SqliteColumnOrigin> origin = column_origin(connection, view, "_id");
  if (!origin) return "any";
  const std::optional<SqliteTable> table = find_table(connection, origin->table);
  const SqliteTableColumn* const column = table ? table->column(origin->column) : nullptr;
  if (column == nullptr) return "any";
  const bool is_row_number =
      std::any_of(table->uniques.begin(), table->uniques.end(), [&](const auto& unique) {
        return unique.is_row_number && unique.columns.front().expression == column->quoted;
      });
  if (is_row_number) return "integer";
  if (!table->is_strict) return "any";
  if (is_same_name(column->type, "int") || is_same_name(column->type, "integer")) return "integer";
  return is_same_name(column->type, "text") ? "text" : "any";
}

}  // namespace lockstep
