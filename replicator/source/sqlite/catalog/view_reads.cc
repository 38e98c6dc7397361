#include "replicator/source/sqlite/catalog/view_reads.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/source/sqlite/catalog/join_columns.h"
#include "replicator/source/sqlite/catalog/table.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

constexpr const char* kLooking = "looking for the tables that a view reads";

constexpr std::array<std::string_view, 14> kEnvironment = {
    "date",      "time",       "datetime",     "julianday",         "strftime",
    "unixepoch", "timediff",   "current_date", "current_time",      "current_timestamp",
    "random",    "randomblob", "changes",      "last_insert_rowid",
};

struct Seen {
  std::map<std::string, std::set<std::string>> reads;  // columns, by table or view
  std::set<std::string> inside;                        // views that caused a reading
  std::set<std::string> functions;
};

// Notes a statement's reads while it is prepared.
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
  // Not a SqliteStatement: one that stays prepared reports nothing.
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection.handle(), query.c_str(), -1, &statement, nullptr);
  sqlite3_finalize(statement);
  if (code != SQLITE_OK)
    throw sqlite_error("looking for what " + subject + " reads", connection.handle(), code);
  return listening.seen();
}

SqliteJoinColumns joins_of(SqliteConnection& connection, const std::set<std::string>& views) {
  SqliteJoinColumns joins;
  for (const std::string& view : views) {
    SqliteStatement text(connection, kLooking,
                         "select sql from main.sqlite_schema where name = ?1 and type = 'view'", view);
    if (!text.step()) continue;
    SqliteJoinColumns own = read_join_columns(text[0].text());
    joins.is_natural |= own.is_natural;
    joins.columns.insert(joins.columns.end(), own.columns.begin(), own.columns.end());
  }
  return joins;
}

// The tables that SQLite opens for a view: the authorizer does not see one that only gives columns to join
// by.
std::vector<std::string> opened_tables(SqliteConnection& connection, const std::string& view) {
  std::vector<std::string> tables;
  std::set<std::int64_t> pages;
  SqliteStatement program(connection, kLooking, "explain select * from main." + quote_sqlite_name(view));
  while (program.step()) {
    const std::string_view opcode = program[1].text();
    const bool is_in_main = program[4].optional_integer().value_or(0) == 0;
    if ((opcode == "OpenRead" || opcode == "ReopenIdx") && is_in_main) pages.insert(program[3].integer());
  }
  for (const std::int64_t page : pages) {
    SqliteStatement owner(connection, kLooking, "select tbl_name from main.sqlite_schema where rootpage = ?1",
                          page);
    if (owner.step()) tables.emplace_back(owner[0].text());
  }
  return tables;
}

void add_joins(SqliteConnection& connection, const std::string& view, SqliteViewReads& reads) {
  const SqliteJoinColumns joins = joins_of(connection, reads.views);
  if (joins.empty()) return;
  for (const std::string& name : opened_tables(connection, view)) reads.tables[name];
  for (auto& [name, read] : reads.tables) {
    const std::optional<SqliteTable> table = find_table(connection, name);
    if (!table) continue;
    read.in_natural_join = joins.is_natural;
    for (const SqliteTableColumn& column : table->columns) {
      const bool is_named =
          std::any_of(joins.columns.begin(), joins.columns.end(),
                      [&](const std::string& each) { return is_same_name(each, column.name); });
      if (joins.is_natural || is_named) read.columns.insert(column.name);
    }
  }
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
  add_joins(connection, view, reads);
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
