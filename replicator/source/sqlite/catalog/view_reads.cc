#include "replicator/source/sqlite/catalog/view_reads.h"

#include <sqlite3.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/source/sqlite/catalog/table.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 14> kEnvironment = {
    "date",      "time",       "datetime",     "julianday",         "strftime",
    "unixepoch", "timediff",   "current_date", "current_time",      "current_timestamp",
    "random",    "randomblob", "changes",      "last_insert_rowid",
};

struct Seen {
  std::map<std::string, std::set<std::string>> reads;  // columns, by table or view
  std::set<std::string> inside;                        // views on whose account something was read
  std::set<std::string> functions;
};

// Notes what a statement reads while it is prepared.
class Listening {
 public:
  explicit Listening(SqliteConnection& connection) : connection_(connection) {
    sqlite3_set_authorizer(connection.handle(), &Listening::hear, this);
  }
  ~Listening() { sqlite3_set_authorizer(connection_.handle(), nullptr, nullptr); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  const Seen& seen() const { return seen_; }

 private:
  static int hear(void* self, int action, const char* first, const char* second, const char* /*database*/,
                  const char* inside) {
    Seen& seen = static_cast<Listening*>(self)->seen_;
    if (action == SQLITE_READ && first != nullptr) {
      std::set<std::string>& columns = seen.reads[first];
      if (second != nullptr && *second != '\0') columns.insert(second);
    } else if (action == SQLITE_FUNCTION && second != nullptr) {
      seen.functions.insert(second);
    }
    if (inside != nullptr) seen.inside.insert(inside);
    return SQLITE_OK;
  }

  SqliteConnection& connection_;
  Seen seen_;
};

Seen listen(SqliteConnection& connection, const std::string& subject, const std::string& query) {
  const Listening listening(connection);
  // Not a SqliteStatement, for one that is kept prepared tells nothing.
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection.handle(), query.c_str(), -1, &statement, nullptr);
  sqlite3_finalize(statement);
  if (code != SQLITE_OK)
    throw sqlite_error("looking for what " + subject + " reads", connection.handle(), code);
  return listening.seen();
}

}  // namespace

SqliteViewReads read_view(SqliteConnection& connection, const std::string& view) {
  Seen seen = listen(connection, "view " + view, "select * from " + quote_sqlite_name(view));
  SqliteViewReads reads;
  for (const std::string& name : seen.inside) seen.reads[name];
  for (auto& [name, columns] : seen.reads) {
    const std::optional<SqliteTable> table = find_table(connection, name);
    if (!table) continue;  // a function such as json_each(), or the schema
    if (table->kind == SqliteTable::Kind::kView) {
      reads.views.insert(table->name);
      continue;
    }
    SqliteTableRead& read = reads.tables[table->name];
    for (const std::string& column : columns) {
      if (table->column(column) == nullptr) {
        read.by_row_number = true;
      } else {
        read.columns.insert(column);
      }
    }
  }
  for (const std::string_view function : kEnvironment) {
    if (seen.functions.contains(std::string(function))) reads.environment.emplace(function);
  }
  return reads;
}

std::set<std::string> columns_read(SqliteConnection& connection, const std::string& expression,
                                   const std::string& table) {
  // The line break keeps a comment at the end from swallowing the bracket.
  Seen seen =
      listen(connection, "the expression", "select (" + expression + "\n) from " + quote_sqlite_name(table));
  std::set<std::string> columns;
  for (auto& [name, read] : seen.reads) {
    if (is_same_name(name, table)) columns.merge(read);
  }
  return columns;
}

}  // namespace lockstep
