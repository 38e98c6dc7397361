#include "replicator/source/sqlite/catalog/column_origin.h"

#include <sqlite3.h>

#include <memory>

#include "replicator/source/sqlite/catalog/view_links.h"

namespace lockstep {

std::optional<SqliteColumnOrigin> column_origin(SqliteConnection& connection, const std::string& view,
                                                const std::string& column) {
  if (read_view_links(connection, view).is_compound) return std::nullopt;
  const std::string query = "select " + quote_sqlite_name(column) + " from " + quote_sqlite_name(view);
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(connection.handle(), query.c_str(), -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, &sqlite3_finalize);
  if (code != SQLITE_OK)
    throw sqlite_error("looking for the source of column " + column + " of view " + view, connection.handle(),
                       code);
  const char* const table = sqlite3_column_table_name(prepared, 0);
  const char* const name = sqlite3_column_origin_name(prepared, 0);
  if (table == nullptr || name == nullptr) return std::nullopt;
  return SqliteColumnOrigin{table, name};
}

}  // namespace lockstep
