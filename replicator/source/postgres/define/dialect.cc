#include "replicator/source/postgres/define/dialect.h"

#include <algorithm>

#include "replicator/listed.h"

namespace lockstep {
namespace {

// "(select … from (the rows) as part_)".
std::string of_rows(const std::string& selected, const JsonRows& rows, const std::string& indent) {
  const std::string in = "\n" + indent + "  ";
  std::string text = "(" + in + "select " + selected + in + "from (" + in + "  select";
  for (const JsonRows::Field& field : rows.fields) {
    text += (&field == &rows.fields.front() ? "" : ",") + in + "    " + field.expression;
    if (!field.is_called_so()) text += " as " + field.as;
  }
  for (const std::string& line : rows.from) text += in + "  " + line;
  return text + in + ") as part_\n" + indent + ")";
}

}  // namespace

std::string PostgresDialect::several_columns(const ColumnNames& columns) const {
  return "jsonb_build_array(" + listed(columns) + ")";
}

std::string PostgresDialect::as_value(const std::string& expression, const GraphColumn& /*column*/) const {
  return expression;
}

std::string PostgresDialect::is_among_values(const std::string& expression,
                                             const std::string& equality) const {
  return expression + " " + equality + " any($1)";
}

std::string PostgresDialect::values_as_rows() const {
  return "unnest($1) as v(value)";
}

std::string PostgresDialect::part_of_value(std::size_t place, const GraphColumn& column) const {
  return "(v.value ->> " + std::to_string(place) + ")::" + column.type;
}

std::string PostgresDialect::json_object(const JsonRows& rows, const std::string& indent) const {
  return of_rows("row_to_json(part_.*)", rows, indent);
}

std::string PostgresDialect::json_array(const JsonRows& rows, const std::string& indent) const {
  const std::string order = rows.order.empty() ? "" : " order by " + listed(rows.order, "part_.");
  return of_rows("coalesce(json_agg(row_to_json(part_.*)" + order + "), '[]')", rows, indent);
}

std::string PostgresDialect::json_values(const JsonRows& rows, const std::string& indent) const {
  const std::string order = rows.order.empty() ? "" : " order by " + listed(rows.order, "part_.");
  return of_rows("coalesce(json_agg(part_." + rows.fields.front().as + order + "), '[]')", rows, indent);
}

std::string PostgresDialect::label(const std::string& name) const {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  const bool begins_plain = name.front() < '0' || name.front() > '9';
  if (plain && begins_plain) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string PostgresDialect::before_view() const {
  return "create schema if not exists search;\n\n";
}

std::string PostgresDialect::create_index(const GraphTable& table, const ColumnNames& columns) const {
  // The server cannot make an index of a partitioned table while it is written.
  return std::string("create index ") + (table.partitioned ? "" : "concurrently ") + "on " + table.name +
         " (" + listed(columns) + ");\n";
}

std::vector<std::string> PostgresDialect::client(const std::string& source_url,
                                                 const std::string& file) const {
  return {"psql", source_url, "-v", "ON_ERROR_STOP=1", "-f", file};
}

}  // namespace lockstep
