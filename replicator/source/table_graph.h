// Tables, their keys and a view's use of them, in any database. `init` drafts a pipeline from it.
//
// Names of tables and columns are as SQL writes them, quoted if necessary, unless noted otherwise.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/view/view_graph.h"

namespace lockstep {

/// The kind of a column's values in JSON, as far as a mapping distinguishes it. Of an array: its elements.
enum class ValueKind {
  kShort,
  kInteger,
  kLong,
  kFloat,
  kDouble,
  kBoolean,
  kDate,      ///< a date or a point in time
  kDateText,  ///< the same, also as SQLite writes it: a space between day and time
  kKeyword,   ///< a text that is only compared as a whole: uuid, enum, time of day
  kText,
  kObject,  ///< JSON objects, or arrays of them
  kMixed,   ///< JSON that is not of one shape
  kOpaque,  ///< bytes and the like, which are not searched for
};

struct GraphColumn {
  std::string name;  ///< not quoted
  std::string quoted;
  std::string type;  ///< as SQL writes it, below any domain
  std::string equality = "=";
  ValueKind kind = ValueKind::kText;
  bool json_in_text = false;  ///< its texts are JSON, and the database does not know
};

struct ForeignKey {
  ColumnNames columns;
  std::string table;       ///< the one that it refers to
  ColumnNames references;  ///< that table's columns, in the order of `columns`
  /// Of a temporal key: the column with the time of the row, and that of the rows that it refers to. These
  /// cover it together, so there may be several. Empty: it is none.
  std::string period = {};
  std::string referenced_period = {};
};

struct GraphTable {
  std::string name;    ///< schema-qualified if there are schemas
  std::string alias;   ///< its own name alone
  std::string own;     ///< the same, not quoted
  std::string schema;  ///< empty: the database has none
  std::vector<GraphColumn> columns;
  ColumnNames key;  ///< the primary key's columns, in its order; empty: it has none
  std::vector<ForeignKey> foreign_keys;
  std::vector<ColumnNames> indices;  ///< the columns that each index begins with
  bool partitioned = false;

  /// REQUIRES: the table has it.
  const GraphColumn& column(const std::string& quoted) const;
};

/// By name. A table includes its partitions, too.
using TableGraph = std::map<std::string, GraphTable>;

struct ViewShape {
  std::string name;
  std::vector<GraphColumn> columns;
  ViewGraph graph;
  std::set<std::string> reads;       ///< its tables, also those that no place of the graph shows
  std::vector<std::string> unknown;  ///< what nobody can tell, in words: "when foreign table … changes"
  bool recursive = false;
};

class SqlDialect;

/// One connection, for one thread. Every function throws Error if the source cannot be asked.
class SchemaReader {
 public:
  virtual ~SchemaReader() = default;

  /// How this database writes SQL. Lives as long as the reader.
  virtual const SqlDialect& dialect() const = 0;

  /// All tables but the system's own and those of Lockstep's schema.
  virtual TableGraph tables() = 0;

  /// Looks at some of its rows, too. Throws UsageError if there is no view of that name, or if looking would
  /// lend this session's rights to another role.
  virtual ViewShape view(const std::string& name) = 0;

  /// The same of a view that is not there yet: of this name, made by these statements, which are undone.
  /// Throws UsageError also if the database refuses them.
  virtual ViewShape drafted_view(const std::string& name, const std::string& statements) = 0;

  /// Whether a table, a view or anything else has this schema-qualified name.
  virtual bool has(const std::string& name) = 0;

  /// The name of a view of documents for this table; `table` is a GraphTable::own.
  virtual std::string view_for(const std::string& table) = 0;
};

}  // namespace lockstep
