#include "replicator/source/postgres/define/capture.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace lockstep {
namespace {

constexpr unsigned kJsonb = 3802;  // pg_type.dat

std::string column_names(const PostgresRelation& relation) {
  std::string text;
  for (const PostgresColumn& column : relation.columns) text += (text.empty() ? "" : ", ") + column.quoted;
  return text;
}

// The column that a configuration names, either as SQL writes it or by its bare name.
const PostgresColumn* column_called(const PostgresRelation& relation, const std::string& name) {
  for (const PostgresColumn& column : relation.columns) {
    if (column.quoted == name) return &column;
  }
  if (const PostgresColumn* column = relation.column(name)) return column;
  std::string folded = name;
  std::transform(folded.begin(), folded.end(), folded.begin(),
                 [](unsigned char c) { return static_cast<char>(c < 0x80 ? std::tolower(c) : c); });
  const PostgresColumn* column = relation.column(folded);
  return column != nullptr && column->quoted == folded ? column : nullptr;
}

DescribedCapture faulty(std::string fault, std::string remedy) {
  return {std::nullopt, std::move(fault), std::move(remedy), false};
}

DescribedCapture of_column(const PostgresRelation& table, const PostgresColumn& column) {
  if (!column.has_array) {
    return faulty("row: " + column.quoted + " is of type " + column.type + ", and there are no arrays of it",
                  "cast it: row = \"" + column.quoted + "::text\"");
  }
  CaptureDesign capture;
  capture.relation = table.name;
  capture.expression = column.quoted;
  capture.value_type = column.type;
  capture.value_type_oid = column.type_oid;
  capture.settings_free = column.settings_free;
  return {std::move(capture), "", "", false};
}

DescribedCapture of_key(const PostgresRelation& table) {
  const std::vector<const PostgresColumn*> key = table.primary_key();
  if (key.empty()) {
    return faulty("table " + table.name + " has no primary key",
                  "give row = \"…\": the column or expression that leads to its documents");
  }
  if (key.size() == 1) {
    DescribedCapture single = of_column(table, *key.front());
    if (single.capture) single.capture->is_key = true;
    return single;
  }
  CaptureDesign capture;
  capture.relation = table.name;
  // Joined with a separator, ("a-b", "c") and ("a", "b-c") would be one key.
  std::string columns;
  for (const PostgresColumn* column : key) {
    columns += (columns.empty() ? "" : ", ") + column->quoted;
    if (!column->settings_free) capture.settings_free = false;
  }
  capture.expression = "jsonb_build_array(" + columns + ")";
  capture.value_type = "jsonb";
  capture.value_type_oid = kJsonb;
  capture.is_key = true;
  return {std::move(capture), "", "", false};
}

DescribedCapture of_expression(PostgresTransaction& transaction, const PostgresRelation& table,
                               const std::string& row) {
  // Inside VALUES the server refuses aggregates, window functions and functions that return sets. The
  // subselect has no system columns, and neither have the changed rows that a trigger sees.
  unsigned type = 0;
  const std::optional<Complaint> complaint =
      complaint_about(transaction,
                      "select v.value from (select * from only " + table.name + " offset 0) as " +
                          table.alias + " cross join lateral (values ((" + row + "\n))) as v(value) limit 0",
                      [&](const pqxx::result& result) { type = result.column_type(0); });
  if (complaint && complaint->is_missing_right())
    return {std::nullopt, "row: " + complaint->message, "", true};
  if (complaint) {
    return faulty(
        "row: " + complaint->message + " (table " + table.name + ")",
        "it must be a column or an SQL expression over one row, with schema-qualified names; the table has " +
            column_names(table));
  }
  const PostgresType described = describe_type(transaction, type);
  if (!described.has_array) {
    return faulty("row: it is of type " + described.name + ", and there are no arrays of it",
                  "cast it to text");
  }
  CaptureDesign capture;
  capture.relation = table.name;
  capture.expression = row;
  capture.value_type = described.name;
  capture.value_type_oid = described.oid;
  capture.settings_free = false;
  capture.is_expression = true;
  return {std::move(capture), "", "", false};
}

}  // namespace

std::string trimmed(const std::string& text) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  const auto first = std::find_if_not(text.begin(), text.end(), is_space);
  const auto last = std::find_if_not(text.rbegin(), std::make_reverse_iterator(first), is_space).base();
  return {first, last};
}

DescribedCapture describe_capture(PostgresTransaction& transaction, const PostgresRelation& table,
                                  const TrackConfig& track) {
  std::set<std::string> columns;
  for (const std::string& name : track.columns) {
    const PostgresColumn* column = column_called(table, name);
    if (column == nullptr || column->computed_on_read) {
      return faulty("columns: table " + table.name + " stores no column " + name,
                    "it has " + column_names(table));
    }
    columns.insert(column->name);
  }
  const std::string row = trimmed(track.row);
  const PostgresColumn* column = row.empty() ? nullptr : column_called(table, row);
  DescribedCapture described;
  if (row.empty()) {
    described = of_key(table);
  } else if (column != nullptr && !column->computed_on_read) {
    described = of_column(table, *column);
  } else {
    described = of_expression(transaction, table, row);
  }
  if (described.capture && !columns.empty())
    described.capture->columns.emplace(columns.begin(), columns.end());
  return described;
}

}  // namespace lockstep
