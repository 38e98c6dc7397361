#include "replicator/source/sqlite/catalog/table.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/sqlite/catalog/index_text.h"
#include "replicator/source/sqlite/catalog/sql_tokens.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

constexpr const char* kReading = "reading the schema of the database";

char folded(char c) {
  return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

// SQLite takes a bare word for a text, and so does it a name in double quotes. In an expression of ours both
// would be columns.
std::string default_expression(const std::string& text) {
  if (text.empty()) return "null";
  if (text.front() == '"') return quoted_text(unquoted_name(text));
  const bool is_word = std::isalpha(static_cast<unsigned char>(text.front())) != 0 || text.front() == '_';
  const bool is_blob = text.size() > 1 && folded(text.front()) == 'x' && text[1] == '\'';
  if (!is_word || is_blob) return "(" + text + ")";
  for (const char* const keyword :
       {"null", "current_time", "current_date", "current_timestamp", "true", "false"}) {
    if (is_same_name(text, keyword)) return text;
  }
  return quoted_text(text);
}

SqliteTable::Kind kind_of(const std::string& type) {
  if (type == "table") return SqliteTable::Kind::kTable;
  if (type == "view") return SqliteTable::Kind::kView;
  if (type == "virtual") return SqliteTable::Kind::kVirtual;
  if (type == "shadow") return SqliteTable::Kind::kShadow;
  throw Error({kReading, "SQLite calls a table a \"" + type + "\"",
               "this lockstep is too old for the SQLite that it runs with"});
}

void read_columns(SqliteConnection& connection, SqliteTable& table) {
  SqliteStatement columns(connection, kReading,
                          "select name, type, \"notnull\", dflt_value, pk, hidden "
                          "from pragma_table_xinfo(?1, 'main') order by cid",
                          table.name);
  while (columns.step()) {
    const std::int64_t hidden = columns[5].integer();
    if (hidden == 1) continue;  // of a virtual table: an argument
    SqliteTableColumn column;
    column.name = columns[0].text();
    column.quoted = quote_sqlite_name(column.name);
    column.type = columns[1].text();
    column.not_null = columns[2].integer() != 0;
    column.generated = hidden != 0;
    if (!columns[3].is_null()) column.default_value = default_expression(std::string(columns[3].text()));
    column.key_position = static_cast<int>(columns[4].integer()) - 1;
    table.columns.push_back(std::move(column));
  }
}

// In other columns 1 and 1.0 are equal and stay two values.
bool keeps_one_type(const SqliteTableColumn& column) {
  std::string type;
  for (const char c : column.type) type += folded(c);
  const auto has = [&](std::string_view word) { return type.find(word) != std::string::npos; };
  return has("int") || has("char") || has("clob") || has("text");
}

SqliteUnique::Column unique_column(const SqliteTableColumn& column, std::string collation) {
  SqliteUnique::Column unique;
  unique.expression = column.quoted;
  unique.collation = std::move(collation);
  unique.is_column = true;
  if (column.not_null) unique.if_null = column.default_value;
  return unique;
}

SqliteUnique read_unique(SqliteConnection& connection, const SqliteTable& table, const std::string& index,
                         const SqliteIndexText& text) {
  SqliteUnique unique;
  unique.condition = text.condition;
  unique.tells_values_apart = true;
  SqliteStatement columns(
      connection, kReading,
      "select cid, coll, seqno, name from pragma_index_xinfo(?1, 'main') where key order by seqno", index);
  while (columns.step()) {
    const std::int64_t number = columns[0].integer();
    std::string collation(columns[1].text());
    if (number >= 0) {
      const SqliteTableColumn* const column = table.column(columns[3].text());
      unique.columns.push_back(unique_column(*column, collation));
      if (!is_same_name(collation, "binary") || !keeps_one_type(*column)) unique.tells_values_apart = false;
    } else if (number == -1) {
      unique.columns.push_back({table.row_number, collation, true, {}});
    } else {
      unique.columns.push_back({"(" + text.columns.at(columns[2].integer()) + ")", collation, false, {}});
      unique.tells_values_apart = false;
    }
  }
  return unique;
}

void read_uniques(SqliteConnection& connection, SqliteTable& table) {
  bool has_key_index = false;
  SqliteStatement indices(connection, kReading,
                          "select l.name, l.origin, s.sql from pragma_index_list(?1, 'main') as l "
                          "left join main.sqlite_schema as s on s.type = 'index' and s.name = l.name "
                          "where l.\"unique\" order by l.name",
                          table.name);
  while (indices.step()) {
    const SqliteIndexText text =
        indices[2].is_null() ? SqliteIndexText{} : read_index_text(indices[2].text());
    SqliteUnique unique = read_unique(connection, table, std::string(indices[0].text()), text);
    if (indices[1].text() == "pk") has_key_index = true;
    table.uniques.push_back(std::move(unique));
  }
  const std::vector<const SqliteTableColumn*> key = table.primary_key();
  if (has_key_index || key.size() != 1) return;
  // An integer primary key is the row's number and has no index.
  SqliteUnique number;
  number.columns.push_back(unique_column(*key.front(), "BINARY"));
  number.is_row_number = number.tells_values_apart = true;
  table.uniques.insert(table.uniques.begin(), std::move(number));
}

std::string row_number_of(const SqliteTable& table) {
  for (const char* const name : {"rowid", "_rowid_", "oid"}) {
    if (table.column(name) == nullptr) return name;
  }
  return {};
}

}  // namespace

const SqliteTableColumn* SqliteTable::column(std::string_view wanted) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const SqliteTableColumn& column) {
    return is_same_name(column.name, wanted);
  });
  return found == columns.end() ? nullptr : &*found;
}

std::vector<const SqliteTableColumn*> SqliteTable::primary_key() const {
  std::vector<const SqliteTableColumn*> key;
  for (const SqliteTableColumn& column : columns) {
    if (column.key_position >= 0) key.push_back(&column);
  }
  std::sort(key.begin(), key.end(),
            [](const auto* a, const auto* b) { return a->key_position < b->key_position; });
  return key;
}

std::string_view kind_name(SqliteTable::Kind kind) {
  switch (kind) {
    case SqliteTable::Kind::kTable:
      return "table";
    case SqliteTable::Kind::kView:
      return "view";
    case SqliteTable::Kind::kVirtual:
      return "virtual table";
    case SqliteTable::Kind::kShadow:
      break;
  }
  return "table of a virtual table";
}

bool is_same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char one, char other) { return folded(one) == folded(other); });
}

std::string plain_or_quoted(const std::string& name) {
  const auto is_plain = [](unsigned char c) { return c == '_' || (c < 0x80 && std::isalnum(c) != 0); };
  const bool plain = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                     std::all_of(name.begin(), name.end(), is_plain) &&
                     sqlite3_keyword_check(name.c_str(), static_cast<int>(name.size())) == 0;
  return plain ? name : quote_sqlite_name(name);
}

std::optional<SqliteTable> find_table(SqliteConnection& connection, const std::string& name) {
  SqliteStatement found(
      connection, kReading,
      "select name, type, wr, strict from pragma_table_list where schema = 'main' and name = ?1 "
      "collate nocase",
      unquoted_name(name));
  if (!found.step()) return std::nullopt;
  SqliteTable table;
  table.name = found[0].text();
  table.quoted = quote_sqlite_name(table.name);
  table.kind = kind_of(std::string(found[1].text()));
  const bool without_row_number = found[2].integer() != 0;
  table.is_strict = found[3].integer() != 0;
  try {
    read_columns(connection, table);
  } catch (const SqliteError& error) {
    if (error.retryable() || table.kind != SqliteTable::Kind::kView) throw;
    table.complaint = error.parts().cause;
  }
  if (table.kind != SqliteTable::Kind::kTable) return table;
  if (!without_row_number) table.row_number = row_number_of(table);
  read_uniques(connection, table);
  return table;
}

}  // namespace lockstep
