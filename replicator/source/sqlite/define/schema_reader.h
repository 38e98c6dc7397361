// The tables of a SQLite file, their keys, and a view's use of them. A column's declared type is the intended
// one of its values; some rows show the real one.
#pragma once

#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/sqlite/catalog/table.h"
#include "replicator/source/sqlite/catalog/view_links.h"
#include "replicator/source/sqlite/define/dialect.h"
#include "replicator/source/sqlite/session/connection.h"
#include "replicator/source/table_graph.h"

namespace lockstep {

class SqliteSchemaReader final : public SchemaReader {
 public:
  /// Opens the file. Throws as SqliteConnection does.
  explicit SqliteSchemaReader(const SourceConfig& source) : connection_(source) {}

  const SqlDialect& dialect() const override { return dialect_; }
  TableGraph tables() override;
  ViewShape view(const std::string& name) override;
  ViewShape drafted_view(const std::string& name, const std::string& statements) override;
  bool has(const std::string& name) override;
  std::string view_for(const std::string& table) override;

 private:
  // In the transaction that is open.
  ViewShape described_view(const std::string& name);
  GraphTable described(const SqliteTable& table);
  void add_foreign_keys(const std::vector<SqliteTable>& tables, TableGraph& graph);
  std::vector<ColumnNames> indices_of(const SqliteTable& table);
  bool is_applications(const SqliteTable& table) const;
  std::vector<GraphColumn> look_at_rows(const SqliteTable& table, std::vector<std::string>& empty);

  SqliteConnection connection_;
  SqliteDialect dialect_;
};

}  // namespace lockstep
