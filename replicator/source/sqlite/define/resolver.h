// How the values of a capture lead to the _ids of an index's documents: by one query from a JSON array of
// values to ids.
#pragma once

#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/sqlite/catalog/table.h"

namespace lockstep {

struct SqliteResolver {
  std::string query;    ///< SQL from its one parameter to one column of ids; empty: the values are the ids
  std::string fault;    ///< why there is no resolver; empty: there is one
  std::string warning;  ///< changes that it may miss; may be empty
  std::string remedy;   ///< for the fault or the warning
};

/// A track's resolver: its own query, a column of the view, or nothing.
SqliteResolver make_resolver(SqliteConnection& connection, const SqliteTable& view, const TrackConfig& track);

/// An expression over a row, computed when the outbox is read: in the trigger it could fail the application's
/// statement.
struct RowExpression {
  std::vector<std::string> columns;  ///< that it reads
  std::string query;                 ///< SqliteTableCapture::query
  std::string fault;                 ///< why it is none; empty: it is one
};
RowExpression describe_expression(SqliteConnection& connection, const SqliteTable& table,
                                  const std::string& expression);

/// "integer" or "text" if the view's _id can be nothing else, "any" otherwise.
std::string id_type_of(SqliteConnection& connection, const std::string& view);

}  // namespace lockstep
