#include "replicator/source/postgres/define/table_code.h"

#include <algorithm>
#include <optional>

#include "replicator/source/postgres/define/function_code.h"

namespace lockstep {
namespace {

// Also columns that are added later.
bool counts_whole_row(const TableDesign& table, const CaptureDesign& capture) {
  return !capture.columns && !table.every_update && table.every_column;
}

// The columns of fixed width come first, because the comparison ends at the first difference and long texts
// cost more to fetch.
std::optional<std::vector<std::string>> counted_columns(const TableDesign& table,
                                                        const CaptureDesign& capture) {
  if (!capture.columns && table.every_update) return std::nullopt;
  if (counts_whole_row(table, capture)) return std::vector<std::string>{};
  const auto counts = [&](const PostgresColumn& column) {
    if (column.computed_on_read || column.key_position >= 0) return false;
    if (!capture.columns) return table.columns.contains(column.name);
    return std::find(capture.columns->begin(), capture.columns->end(), column.name) != capture.columns->end();
  };
  std::vector<std::string> counted;
  for (const bool fixed_width : {true, false}) {
    for (const PostgresColumn& column : table.relation.columns) {
      if (column.fixed_width == fixed_width && counts(column)) counted.push_back(column.quoted);
    }
  }
  return counted;
}

// bool, "char", name, int8, int2, int4, text, oid, varchar, uuid, as pg_type.dat has them.
bool is_exact(const PostgresColumn& column) {
  constexpr unsigned kExact[] = {16, 18, 19, 20, 21, 23, 25, 26, 1043, 2950};
  return column.deterministic &&
         std::find(std::begin(kExact), std::end(kExact), column.type_oid) != std::end(kExact);
}

// T4: whether the triggers run nothing that looks a name up in the search_path. Code that makes a key of
// several columns does, and the functions that ask whether the outbox is full.
bool names_are_qualified(const PipelineDesign& design, const TableDesign& table) {
  if (design.max_outbox_size || table.relation.primary_key().size() > 1) return false;
  const auto is_computed = [](const PostgresColumn& column) { return column.computed_on_read; };
  if (std::any_of(table.relation.columns.begin(), table.relation.columns.end(), is_computed)) return false;
  return captures_own_types(design, table);
}

}  // namespace

TriggerCode trigger_code(const PipelineDesign& design, const TableDesign& table, const std::string& schema,
                         const std::vector<int>& capture_ids) {
  TriggerCode code;
  code.schema = schema;
  code.alias = table.relation.alias;
  code.bounded = design.max_outbox_size.has_value();
  for (const PostgresColumn* column : table.relation.primary_key()) {
    code.key.push_back({column->quoted, column->equality, is_exact(*column)});
  }
  for (const std::size_t position : table.captures) {
    const CaptureDesign& capture = design.captures[position];
    code.captures.push_back({capture_ids[position], capture.is_key, capture.expression,
                             counted_columns(table, capture), counts_whole_row(table, capture),
                             capture.is_expression});
  }
  return code;
}

bool captures_own_types(const PipelineDesign& design, const TableDesign& table) {
  const std::vector<PostgresColumn>& columns = table.relation.columns;
  const std::vector<const PostgresColumn*> key = table.relation.primary_key();
  if (!std::all_of(key.begin(), key.end(), [](const PostgresColumn* part) { return is_exact(*part); }))
    return false;
  return std::all_of(table.captures.begin(), table.captures.end(), [&](std::size_t position) {
    const CaptureDesign& capture = design.captures[position];
    if (capture.is_expression) return false;
    const auto column = std::find_if(columns.begin(), columns.end(), [&](const PostgresColumn& each) {
      return each.quoted == capture.expression;
    });
    return capture.is_key || (column != columns.end() && is_exact(*column));
  });
}

std::vector<std::string> trigger_settings(const PipelineDesign& design, const TableDesign& table) {
  if (names_are_qualified(design, table)) return {};
  return parts_settings(design, table);
}

std::vector<std::string> parts_settings(const PipelineDesign& design, const TableDesign& table) {
  std::vector<std::string> settings = {kSearchPath};
  const auto has_any = [&](const auto& is_such) {
    return std::any_of(table.captures.begin(), table.captures.end(),
                       [&](std::size_t capture) { return is_such(design.captures[capture]); });
  };
  const auto add = [&](const std::vector<std::string>& more) {
    settings.insert(settings.end(), more.begin(), more.end());
  };
  if (has_any([](const CaptureDesign& capture) { return !capture.settings_free; }))
    add(design.settings.of_texts);
  if (has_any([](const CaptureDesign& capture) { return capture.is_expression; }))
    add(design.settings.of_expressions);
  std::sort(settings.begin(), settings.end());
  return settings;
}

}  // namespace lockstep
