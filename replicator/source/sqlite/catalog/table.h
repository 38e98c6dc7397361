// Tables and views as the application's file describes them: columns, keys, and unique constraints, by which
// `insert or replace` goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

struct SqliteTableColumn {
  std::string name;
  std::string quoted;
  std::string type;  ///< as declared; may be empty
  bool not_null = false;
  bool generated = false;
  std::optional<std::string> default_value = {};  ///< an SQL expression
  int key_position = -1;                          ///< position in the primary key, from 0; -1: not part of it
};

/// Rows of a table that are the same here cannot both be there.
struct SqliteUnique {
  struct Column {
    std::string expression;  ///< SQL over one row; a column of the table: its quoted name
    std::string collation;
    bool is_column = false;
    std::optional<std::string> if_null = {};  ///< the value, as SQL, that `replace` puts in the place of null
  };
  std::vector<Column> columns;
  std::string condition;            ///< SQL over one row; empty: for all rows
  bool is_row_number = false;       ///< an integer primary key, which is the row's number
  bool tells_values_apart = false;  ///< columns that are equal here have values that are the same
};

struct SqliteTable {
  enum class Kind { kTable, kView, kVirtual, kShadow };
  std::string name;
  std::string quoted;
  Kind kind = Kind::kTable;
  bool is_strict = false;
  std::string complaint;  ///< of SQLite about a view, whose columns are not known then; empty: none
  std::vector<SqliteTableColumn> columns;
  std::vector<SqliteUnique> uniques;  ///< only of a table
  /// The name by which SQL reaches a row's number; empty: it has none, or columns have taken all its names.
  std::string row_number;

  const SqliteTableColumn* column(std::string_view name) const;  ///< null: none; as SQLite compares names
  /// The primary key's columns, in its order. Empty: there is none.
  std::vector<const SqliteTableColumn*> primary_key() const;
};

/// "table", "virtual table", … for messages.
std::string_view kind_name(SqliteTable::Kind kind);

/// Whether SQLite takes these for the same name.
bool is_same_name(std::string_view a, std::string_view b);

/// A name as SQL writes it: in quotes if it needs them.
std::string plain_or_quoted(const std::string& name);

/// The table or view of this name, quoted or not. None: the file has none.
std::optional<SqliteTable> find_table(SqliteConnection& connection, const std::string& name);

}  // namespace lockstep
