// How PostgreSQL writes the drafts of `init`.
#pragma once

#include "replicator/source/sql_dialect.h"

namespace lockstep {

class PostgresDialect final : public SqlDialect {
 public:
  std::string several_columns(const ColumnNames& columns) const override;
  std::string as_value(const std::string& expression, const GraphColumn& column) const override;
  std::string is_among_values(const std::string& expression, const std::string& equality) const override;
  std::string values_as_rows() const override;
  std::string part_of_value(std::size_t place, const GraphColumn& column) const override;
  std::string json_object(const JsonRows& rows, const std::string& indent) const override;
  std::string json_array(const JsonRows& rows, const std::string& indent) const override;
  std::string json_values(const JsonRows& rows, const std::string& indent) const override;
  std::string label(const std::string& name) const override;
  bool has_json_type() const override { return true; }
  std::string before_view() const override;
  std::string create_index(const GraphTable& table, const ColumnNames& columns) const override;
  std::vector<std::string> client(const std::string& source_url, const std::string& file) const override;
};

}  // namespace lockstep
