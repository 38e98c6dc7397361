// Which column of a table gives a column of a view its values, unchanged.
#pragma once

#include <optional>
#include <string>

#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

struct SqliteColumnOrigin {
  std::string table;
  std::string column;
};

/// None: the column is computed, or rows of the view come from several selects, and SQLite would name only
/// one. Throws SqliteError. REQUIRES: the view has the column.
std::optional<SqliteColumnOrigin> column_origin(SqliteConnection& connection, const std::string& view,
                                                const std::string& column);

}  // namespace lockstep
