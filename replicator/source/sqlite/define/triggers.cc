#include "replicator/source/sqlite/define/triggers.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "replicator/source/sqlite/session/sql_file.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

// SQLite builds a tree of terms that may be a thousand deep, and applications may allow less.
constexpr std::size_t kMostCounted = 200;

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts)
    text += (text.empty() ? std::string() : std::string(separator)) + part;
  return text;
}

class Triggers {
 public:
  Triggers(const std::string& schema, const SqliteTable& table, const SqliteCaptureCode& capture)
      : schema_(schema), table_(table), capture_(capture) {}

  std::vector<SqliteTrigger> all() {
    add("insert", "capture_insert", {}, {});
    add("update", "capture_update", changed(), {});
    add("delete", "capture_delete", {}, {});
    add_replaced("insert");
    add_replaced("update");
    return std::move(triggers_);
  }

 private:
  // --- values ---

  std::string quoted(const std::string& column) const { return table_.column(column)->quoted; }

  // The outbox's value of the row of this name.
  std::string value_of(const std::string& row) const {
    if (capture_.value.size() == 1) return row + "." + quoted(capture_.value.front());
    std::vector<std::string> parts;
    for (const std::string& column : capture_.value) {
      const std::string value = row + "." + quoted(column);
      parts.push_back("case typeof(" + value + ") when 'text' then 't' || hex(" + value +
                      ") when 'blob' then 'b' || hex(" + value + ") else quote(" + value + ") end");
    }
    return joined(parts, " || ',' || ");
  }

  std::string differs(const std::string& column) const {
    const std::string name = quoted(column);
    return "old." + name + " is not new." + name + " collate binary or typeof(old." + name +
           ") <> typeof(new." + name + ")";
  }

  std::string any_differs(const std::set<std::string>& columns) const {
    std::vector<std::string> terms;
    for (const std::string& column : columns) terms.push_back(differs(column));
    return joined(terms, "\n  or ");
  }

  // Empty: every update counts.
  std::string changed() const {
    if (!capture_.counted) return {};
    std::set<std::string> columns(capture_.counted->begin(), capture_.counted->end());
    columns.insert(capture_.value.begin(), capture_.value.end());
    return columns.size() > kMostCounted ? std::string() : any_differs(columns);
  }

  // --- deletions by `replace` ---

  // The new row's value of an expression over a row. A condition of the index keeps the expression from
  // rows for which it may fail.
  std::string over_new_row(const std::string& expression, const std::string& condition) const {
    std::vector<std::string> columns;
    for (const SqliteTableColumn& column : table_.columns)
      columns.push_back("new." + column.quoted + " as " + column.quoted);
    return "(select " + expression + " from (select " + joined(columns, ", ") + ") as " + table_.quoted +
           (condition.empty() ? "" : " where " + condition) + ")";
  }

  std::string same_in(const SqliteUnique& unique) const {
    // The line break keeps a comment at the end from swallowing the bracket.
    const std::string condition = unique.condition.empty() ? "" : "(" + unique.condition + "\n)";
    std::vector<std::string> terms;
    if (!condition.empty()) terms.push_back(condition);
    for (const SqliteUnique::Column& column : unique.columns) {
      const std::string collation = " collate " + quote_sqlite_name(column.collation);
      if (!column.is_column) {
        terms.push_back(column.expression + collation + " = " + over_new_row(column.expression, condition));
        continue;
      }
      std::string value = "new." + column.expression;
      if (column.if_null) value = "coalesce(" + value + ", " + *column.if_null + ")";
      if (!condition.empty()) value = "(select " + value + " where " + over_new_row("1", condition) + ")";
      terms.push_back(table_.quoted + "." + column.expression + collation + " = " + value);
    }
    return joined(terms, " and ");
  }

  std::string not_the_row_itself(const SqliteUnique& unique) const {
    // Without a look at the table when the number stays, as it does in nearly every update.
    const std::string& first = unique.columns.front().expression;
    if (unique.is_row_number || (unique.columns.size() == 1 && first == table_.row_number))
      return " and new." + first + " <> old." + first;
    if (!table_.row_number.empty())
      return " and " + table_.quoted + "." + table_.row_number + " <> old." + table_.row_number;
    std::vector<std::string> terms;
    for (const SqliteTableColumn* column : table_.primary_key())
      terms.push_back(table_.quoted + "." + column->quoted + " is old." + column->quoted);
    return terms.empty() ? "" : " and not (" + joined(terms, " and ") + ")";
  }

  // Whether a row that is the same as the new one there has the same value, which the insert or update
  // captures.
  bool gives_same_value(const SqliteUnique& unique) const {
    return unique.tells_values_apart && unique.condition.empty() &&
           std::all_of(capture_.value.begin(), capture_.value.end(), [&](const std::string& column) {
             return std::any_of(unique.columns.begin(), unique.columns.end(), [&](const auto& each) {
               return each.is_column && each.expression == quoted(column) && !each.if_null;
             });
           });
  }

  void add_replaced(const std::string& event) {
    std::vector<Filling> indices;
    for (const SqliteUnique& unique : table_.uniques) {
      if (gives_same_value(unique)) continue;
      indices.push_back(
          {{{"replaced", value_of(table_.quoted)},
            {"same", same_in(unique) + (event == "update" ? not_the_row_itself(unique) : std::string())}},
           {}});
    }
    if (!indices.empty()) add("replace_by_" + event, "capture_replaced", {}, std::move(indices), event);
  }

  // --- text ---

  void add(const std::string& purpose, std::string_view file, std::string condition,
           std::vector<Filling> indices, const std::string& event = {}) {
    if (capture_.has_limit) {
      const std::string not_full = "(select left_out from " + schema_ + "_outbox_limit) = 0";
      condition = condition.empty() ? not_full : not_full + " and (" + condition + ")";
    }
    SqliteTrigger trigger;
    trigger.name = trigger_prefix(schema_, capture_.id) + purpose;
    trigger.table = table_.name;
    Filling filling;
    filling.holes = {{"schema", schema_},
                     {"name", trigger.name},
                     {"table", table_.quoted},
                     {"capture", std::to_string(capture_.id)},
                     {"when", condition.empty() ? "" : "\nwhen " + condition},
                     {"event", event},
                     {"new", value_of("new")},
                     {"old", value_of("old")},
                     {"moved", any_differs({capture_.value.begin(), capture_.value.end()})}};
    filling.blocks["limited"] = when(capture_.has_limit);
    filling.blocks["indices"] = std::move(indices);
    trigger.sql = fill_template(sqlite_sql(file), filling);
    trigger.sql.resize(trigger.sql.find_last_not_of('\n') + 1);
    triggers_.push_back(std::move(trigger));
  }

  const std::string& schema_;
  const SqliteTable& table_;
  const SqliteCaptureCode& capture_;
  std::vector<SqliteTrigger> triggers_;
};

}  // namespace

std::vector<SqliteTrigger> capture_triggers(const std::string& schema, const SqliteTable& table,
                                            const SqliteCaptureCode& capture) {
  return Triggers(schema, table, capture).all();
}

std::string trigger_prefix(const std::string& schema, int capture) {
  return schema + "_" + std::to_string(capture) + "_";
}

}  // namespace lockstep
