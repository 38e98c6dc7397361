#include "replicator/source/sqlite/catalog/view_parts.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "replicator/error.h"
#include "replicator/source/checksum.h"
#include "replicator/source/sqlite/catalog/table.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

constexpr const char* kNote = "changed";  // not the name of a part: those begin with a kind

std::string schema_text(SqliteConnection& connection, const std::string& name) {
  SqliteStatement found(connection, "reading the schema of the database",
                        "select sql from main.sqlite_schema where name = ?1 and type in ('table', 'view')",
                        name);
  return found.step() && !found[0].is_null() ? std::string(found[0].text()) : std::string();
}

std::string declarations(SqliteConnection& connection, const std::string& name, const SqliteTableRead& read) {
  const std::optional<SqliteTable> table = find_table(connection, name);
  std::string text;
  bool is_computed = false;
  for (const std::string& each : read.columns) {
    const SqliteTableColumn* const column = table ? table->column(each) : nullptr;
    if (column == nullptr) continue;
    text += column->name + " " + column->type + "\n";
    if (column->generated) is_computed = true;
  }
  // The text of the table alone shows what a column is computed from.
  return is_computed ? schema_text(connection, name) : text;
}

SqliteViewParts stored_parts(std::string_view stored) {
  try {
    return nlohmann::json::parse(stored).get<SqliteViewParts>();
  } catch (const nlohmann::json::exception& error) {
    throw Error({"reading the definition of an index", error.what(),
                 "lockstep's tables were written by something else; remove the pipeline and apply it again"});
  }
}

}  // namespace

SqliteViewParts read_view_parts(SqliteConnection& connection, const SqliteViewReads& reads) {
  SqliteViewParts parts;
  for (const std::string& view : reads.views) parts["view " + view] = checksum(schema_text(connection, view));
  for (const auto& [table, read] : reads.tables)
    parts["table " + table] = checksum(declarations(connection, table, read));
  return parts;
}

std::string to_text(const SqliteViewParts& parts) {
  return nlohmann::json(parts).dump();
}

std::vector<std::string> noted_parts(std::string_view stored) {
  const SqliteViewParts before = stored_parts(stored);
  const auto note = before.find(kNote);
  return note == before.end() ? std::vector<std::string>() : std::vector{note->second};
}

std::string with_note(std::string_view stored, const std::vector<std::string>& changed) {
  SqliteViewParts noted = stored_parts(stored);
  std::string& names = noted[kNote];
  for (const std::string& name : changed) {
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
  }
  return to_text(noted);
}

std::vector<std::string> changed_parts(const SqliteViewParts& parts, std::string_view stored) {
  SqliteViewParts before = stored_parts(stored);
  before.erase(kNote);
  std::set<std::string> names;
  for (const auto& [name, sum] : parts) {
    const auto known = before.find(name);
    if (known == before.end() || known->second != sum) names.insert(name);
  }
  for (const auto& [name, sum] : before) {
    if (!parts.contains(name)) names.insert(name);
  }
  return {names.begin(), names.end()};
}

}  // namespace lockstep
