// A view that makes documents of tables: one row of the root is one document; rows that it refers to are
// objects in it, rows that refer to it are arrays. A table that does nothing but link two others is passed
// through.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "replicator/draft/field.h"
#include "replicator/draft/shape.h"
#include "replicator/source/sql_dialect.h"
#include "replicator/source/table_graph.h"
#include "replicator/source/view/view_graph.h"

namespace lockstep {

/// A column that is not in the view (sensitive_name.h).
struct LeftOutColumn {
  std::string name;   ///< with its table
  std::string field;  ///< its place in the document: "customer.password_hash"
  std::string as;     ///< the expression that puts it there, among the others of its object
};

struct DraftView {
  std::string name;  ///< schema-qualified
  std::string sql;   ///< the statement that creates it
  std::vector<DraftField> fields;
  ViewGraph graph;
  std::set<std::string> reads;  ///< its tables
  std::vector<LeftOutColumn> left_out = {};
};

/// `table` and `with` name tables as table_called() does; each of `with` is put at the first table that
/// a foreign key, or a table of links, joins it to: of the root, then of those before it. Columns whose names
/// look like secrets are left out, unless rows are joined by them, or they are booleans or dates. Throws
/// UsageError for a name that means no table or several, for a table that nothing leads to, and for a root
/// whose primary key is not one column.
DraftView draft_view(const TableGraph& graph, const std::string& view, const std::string& table,
                     const std::vector<std::string>& with, const SqlDialect& dialect);

/// The same of a described document. Throws UsageError, with the description's place, also for a column that
/// is not there, a field that is there twice, and a table that no foreign key, or several, join to the one
/// above.
DraftView draft_view(const TableGraph& graph, const std::string& view, const DraftShape& shape,
                     const SqlDialect& dialect);

/// The table of that name, with or without its schema, in upper or lower case if that leaves one. Throws
/// UsageError if there is none, or several.
const GraphTable& table_called(const TableGraph& graph, const std::string& name);

}  // namespace lockstep
