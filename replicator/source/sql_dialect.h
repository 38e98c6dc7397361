// How a database writes the SQL of `init`'s drafts, if databases differ.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/table_graph.h"

namespace lockstep {

/// Rows that are to become JSON inside of a document.
struct JsonRows {
  struct Field {
    std::string name;           ///< not quoted
    std::string expression;     ///< of one row, or JSON of other rows
    const GraphColumn* column;  ///< the column that the expression names; null: JSON of other rows
    std::string as;             ///< the name, quoted where SQL needs it
    /// Whether the expression has that name by itself.
    bool is_called_so() const { return column != nullptr && as == column->quoted; }
  };
  std::vector<Field> fields;
  std::string alias;              ///< of their table in `from`
  std::vector<std::string> from;  ///< the lines behind the fields, from "from" on
  ColumnNames order;              ///< columns of their table; empty: there is no order
};

/// Without state. Texts are SQL unless noted otherwise.
class SqlDialect {
 public:
  virtual ~SqlDialect() = default;

  // --- the values of changed rows, `$1` ---

  /// Several columns of a row as one value, as that of a key of several columns is.
  virtual std::string several_columns(const ColumnNames& columns) const = 0;

  /// `expression`, which names `column`, as a value or an _id.
  virtual std::string as_value(const std::string& expression, const GraphColumn& column) const = 0;

  /// The condition that `expression`, an as_value(), is one of the values; `equality` is its column's.
  virtual std::string is_among_values(const std::string& expression, const std::string& equality) const = 0;

  /// The values as rows that are called v, where each is several_columns().
  virtual std::string values_as_rows() const = 0;

  /// In such a row the value at this place, from 0; it is compared with `column`.
  virtual std::string part_of_value(std::size_t place, const GraphColumn& column) const = 0;

  // --- documents ---

  /// One JSON object of the only row, null without a row. Every line but the first begins with `indent`.
  virtual std::string json_object(const JsonRows& rows, const std::string& indent) const = 0;

  /// A JSON array of an object for each row, in their order.
  virtual std::string json_array(const JsonRows& rows, const std::string& indent) const = 0;

  /// A JSON array of the value of the only field of each row, in their order.
  virtual std::string json_values(const JsonRows& rows, const std::string& indent) const = 0;

  /// A name for a column of a query, quoted if necessary behind "as".
  virtual std::string label(const std::string& name) const = 0;

  /// Whether the database distinguishes JSON from text. Otherwise the configuration names the JSON columns.
  virtual bool has_json_type() const = 0;

  // --- statements ---

  /// The statements that a view of documents needs first; may be empty.
  virtual std::string before_view() const = 0;

  virtual std::string create_index(const GraphTable& table, const ColumnNames& columns) const = 0;

  /// The words of the command that runs a file of statements, for a shell; not SQL. Ends at the first error.
  virtual std::vector<std::string> client(const std::string& source_url, const std::string& file) const = 0;
};

}  // namespace lockstep
