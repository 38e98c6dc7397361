// The tables of a PostgreSQL database, their keys, and a view's use of them.
#pragma once

#include <map>
#include <string>

#include "replicator/config/config.h"
#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/define/dialect.h"
#include "replicator/source/postgres/session/session.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/table_graph.h"

namespace lockstep {

class PostgresSchemaReader final : public SchemaReader {
 public:
  /// Connects. Throws as PostgresSession does.
  explicit PostgresSchemaReader(const SourceConfig& source);

  const SqlDialect& dialect() const override { return dialect_; }
  TableGraph tables() override;
  ViewShape view(const std::string& name) override;
  ViewShape drafted_view(const std::string& name, const std::string& statements) override;
  bool has(const std::string& name) override;
  std::string view_for(const std::string& table) override;

 private:
  ViewShape view(PostgresTransaction& transaction, const std::string& name);
  GraphColumn column_of(PostgresTransaction& transaction, const PostgresColumn& column);
  ValueKind kind_of(PostgresTransaction& transaction, unsigned type_oid);
  void require_trust(PostgresTransaction& transaction, const std::string& view);
  /// The kind of its values, if they are JSON; returns why it is unknown.
  static std::string look_at(PostgresTransaction& transaction, const std::string& relation,
                             GraphColumn& column);

  const SourceConfig source_;
  PostgresSession session_;
  PostgresDialect dialect_;
  std::map<unsigned, ValueKind> kinds_;  // by oid of the type
};

}  // namespace lockstep
