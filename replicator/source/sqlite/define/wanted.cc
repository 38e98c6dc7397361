#include "replicator/source/sqlite/define/wanted.h"

#include "replicator/warnings.h"

namespace lockstep {

const SqliteViewReads* SqliteReads::of(const std::string& view) {
  auto known = reads_.find(view);
  if (known == reads_.end()) {
    std::optional<SqliteViewReads> reads;
    try {
      reads = read_view(connection_, view);
    } catch (const SqliteError& error) {
      if (error.retryable()) throw;
    }
    known = reads_.emplace(view, std::move(reads)).first;
  }
  return known->second ? &*known->second : nullptr;
}

std::optional<std::vector<std::string>> counted_columns(SqliteReads& reads,
                                                        const SqliteTableCapture& capture) {
  if (capture.columns) return capture.columns;
  std::set<std::string> counted;
  for (const std::string& view : capture.views) {
    const SqliteViewReads* const read = reads.of(view);
    if (read == nullptr) return std::nullopt;
    const auto table = read->tables.find(capture.relation);
    // A table that the view does not read leads to documents in an unknown way.
    if (table == read->tables.end() || table->second.by_row_number || table->second.in_natural_join)
      return std::nullopt;
    counted.insert(table->second.columns.begin(), table->second.columns.end());
  }
  return std::vector<std::string>(counted.begin(), counted.end());
}

std::string misfit(const std::optional<SqliteTable>& table, const SqliteTableCapture& capture) {
  if (!table || table->kind != SqliteTable::Kind::kTable) return warning("table_gone", {capture.relation});
  std::vector<std::string> columns = capture.value;
  if (capture.columns) columns.insert(columns.end(), capture.columns->begin(), capture.columns->end());
  for (const std::string& column : columns) {
    if (table->column(column) == nullptr) return warning("column_gone", {column, capture.relation});
  }
  return {};
}

std::vector<SqliteTrigger> wanted_triggers(const SqliteConnection& connection, SqliteReads& reads,
                                           const SqliteTable& table, const SqliteTableCapture& capture,
                                           bool has_limit) {
  SqliteCaptureCode code;
  code.id = capture.id;
  code.value = capture.value;
  code.counted = counted_columns(reads, capture);
  code.has_limit = has_limit;
  return capture_triggers(connection.schema(), table, code);
}

}  // namespace lockstep
