#include "replicator/source/sqlite/define/dialect.h"

#include "replicator/error.h"
#include "replicator/listed.h"
#include "replicator/source/sqlite/catalog/index_text.h"
#include "replicator/source/sqlite/catalog/sql_tokens.h"
#include "replicator/source/sqlite/catalog/table.h"

namespace lockstep {
namespace {

constexpr std::size_t kMostFields = 63;  // a function takes 127 arguments, up to SQLite 3.47

std::string value_in_json(const JsonRows::Field& field) {
  const std::string& value = field.expression;
  if (field.column == nullptr) return "json(" + value + ")";
  // JSON has no blobs, and a column without a type may hold one.
  if (field.column->type.empty() || field.column->kind == ValueKind::kOpaque)
    return "iif(typeof(" + value + ") = 'blob', lower(hex(" + value + ")), " + value + ")";
  if (field.column->json_in_text) return "iif(json_valid(" + value + "), json(" + value + "), " + value + ")";
  return value;
}

std::string object_of(const JsonRows& rows, const std::string& in) {
  if (rows.fields.size() > kMostFields)
    throw UsageError("table " + rows.alias + " gives more than " + std::to_string(kMostFields) +
                     " fields, more than json_object() takes; write a view by hand, and use --view");
  std::string text = "json_object(";
  for (const JsonRows::Field& field : rows.fields) {
    text += (&field == &rows.fields.front() ? "" : ",") + in + "  " + quoted_text(field.name) + ", " +
            value_in_json(field);
  }
  return text + in + ")";
}

std::string lines(const JsonRows& rows, const std::string& in) {
  std::string text;
  for (const std::string& line : rows.from) text += in + line;
  return text;
}

}  // namespace

std::string SqliteDialect::several_columns(const ColumnNames& columns) const {
  return "json_array(" + listed(columns) + ")";
}

std::string SqliteDialect::as_value(const std::string& expression, const GraphColumn& column) const {
  return column.kind == ValueKind::kOpaque ? "lower(hex(" + expression + "))" : expression;
}

std::string SqliteDialect::is_among_values(const std::string& expression,
                                           const std::string& /*equality*/) const {
  return expression + " in (select value from json_each($1))";
}

std::string SqliteDialect::values_as_rows() const {
  return "json_each($1) as v";
}

std::string SqliteDialect::part_of_value(std::size_t place, const GraphColumn& /*column*/) const {
  return "json_extract(v.value, '$[" + std::to_string(place) + "]')";
}

std::string SqliteDialect::json_object(const JsonRows& rows, const std::string& indent) const {
  const std::string in = "\n" + indent + "  ";
  return "(" + in + "select" + in + "  " + object_of(rows, in + "  ") + lines(rows, in) + "\n" + indent + ")";
}

// An aggregate takes the rows of a subquery in its order; an order of its own came with SQLite 3.44.
std::string SqliteDialect::json_array(const JsonRows& rows, const std::string& indent) const {
  const std::string in = "\n" + indent + "  ";
  const std::string inner = in + "  ";
  std::string text = "(" + in + "select json_group_array(json(part_.object))" + in + "from (" + inner +
                     "select " + object_of(rows, inner) + " as object" + lines(rows, inner);
  if (!rows.order.empty()) text += inner + "order by " + listed(rows.order, rows.alias + ".");
  return text + in + ") as part_\n" + indent + ")";
}

std::string SqliteDialect::json_values(const JsonRows& rows, const std::string& indent) const {
  const std::string in = "\n" + indent + "  ";
  const std::string inner = in + "  ";
  std::string text = "(" + in + "select json_group_array(part_.value)" + in + "from (" + inner + "select " +
                     value_in_json(rows.fields.front()) + " as value" + lines(rows, inner);
  if (!rows.order.empty()) text += inner + "order by " + listed(rows.order, rows.alias + ".");
  return text + in + ") as part_\n" + indent + ")";
}

std::string SqliteDialect::label(const std::string& name) const {
  return plain_or_quoted(name);
}

std::string SqliteDialect::before_view() const {
  return {};
}

// SQLite wants a name, and every name is there once in a file.
std::string SqliteDialect::create_index(const GraphTable& table, const ColumnNames& columns) const {
  std::string name = table.own;
  for (const std::string& column : columns) name += "_" + unquoted_name(column);
  std::vector<std::string> values;
  for (const std::string& column : columns) values.push_back(as_value(column, table.column(column)));
  return "create index if not exists " + plain_or_quoted(name) + " on " + table.name + " (" + listed(values) +
         ");\n";
}

std::vector<std::string> SqliteDialect::client(const std::string& source_url, const std::string& file) const {
  return {"sqlite3", "-bail", source_url.substr(std::string("sqlite:").size()),
          ".read " + quote_sqlite_name(file)};
}

}  // namespace lockstep
