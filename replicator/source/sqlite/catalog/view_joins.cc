#include "replicator/source/sqlite/catalog/view_joins.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "replicator/source/sqlite/catalog/sql_tokens.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

using Entries = std::map<std::string, int>;

constexpr std::array<std::string_view, 9> kEndOfFrom = {"where", "group",     "having", "window", "order",
                                                        "limit", "returning", "select", "values"};
constexpr std::array<std::string_view, 11> kBehindTable = {
    "on", "using", "join", "left", "right", "full", "inner", "cross", "natural", "indexed", "not"};
constexpr std::array<std::string_view, 14> kOperators = {"+", "-", "*", "/", "%", "|",       "&",
                                                         "<", ">", "~", ".", "(", "collate", "isnull"};

// A table or view in a from clause.
struct TableEntry {
  std::string alias;
  SqliteTable table;
};

struct Operand {
  std::string qualifier;  // empty: none
  std::string column;
  std::size_t first = 0;  // number of its first token
  std::size_t last = 0;
};

// One select, or a part in brackets.
struct Scope {
  bool gives_rows = false;  // of the view: it is the view itself, a subquery in `from` or in `with`
  bool in_from = false;
  bool at_entry = false;  // a table or a subquery comes next
  bool is_natural = false;
  bool in_columns = false;
};

void add(Entries& to, const Entries& some) {
  for (const auto& [name, times] : some) to[name] += times;
}

// Follows one view's text.
class Walker {
 public:
  Walker(SqliteConnection& connection, std::string_view sql) : connection_(connection) {
    SqlTokens tokens(sql);
    while (const std::optional<SqlToken> token = tokens.next()) tokens_.push_back(*token);
  }

  void walk() {
    scopes_.push_back({.gives_rows = true});
    // Behind "create view name (columns) as".
    while (at_ < tokens_.size() && !tokens_[at_].is("as")) ++at_;
    for (++at_; at_ < tokens_.size(); ++at_) step(tokens_[at_]);
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) add_equality(i);
  }

  std::vector<TableEntry> entries;
  std::vector<SqliteJoin> equal;
  Entries base, all_branches, largest_branch;  // outside of the subqueries that give columns, and inside
  std::vector<std::string> row_views;          // whose rows become its own
  bool recursive = false;
  bool is_compound = false;

 private:
  Scope& scope() { return scopes_.back(); }
  bool is(std::size_t at, std::string_view word) const { return at < tokens_.size() && tokens_[at].is(word); }

  void step(const SqlToken& token) {
    if (token.is("(")) return open();
    if (token.is(")")) return close();
    if (token.is("recursive")) recursive = true;
    if (is_any(token, kCompoundOperators)) is_compound = is_compound || scope().gives_rows;
    if (token.is("select")) scope().in_columns = true;
    if (token.is("from") && is_clause()) {
      scope().in_from = scope().at_entry = true;
      scope().in_columns = false;
    } else if (is_any(token, kEndOfFrom) || is_any(token, kCompoundOperators)) {
      scope().in_from = scope().at_entry = false;
    } else if (scope().in_from && (token.is(",") || token.is("join"))) {
      scope().at_entry = true;
    } else if (scope().in_from && token.is("natural")) {
      scope().is_natural = true;
    } else if (scope().in_from && token.is("using")) {
      add_using();
    } else if (scope().at_entry && token.is_name()) {
      add_entry();
    }
  }

  // Not that of "is distinct from".
  bool is_clause() const { return at_ == 0 || !tokens_[at_ - 1].is("distinct"); }

  void open() {
    const Scope outer = scope();
    const bool of_with = at_ > 0 && (tokens_[at_ - 1].is("as") || tokens_[at_ - 1].is("materialized"));
    Scope inner;
    inner.gives_rows = outer.gives_rows && (outer.at_entry || (of_with && !outer.in_columns));
    // "from (a join b)" and "from (select …)" look alike.
    inner.in_from = inner.at_entry = outer.at_entry && !is(at_ + 1, "select") && !is(at_ + 1, "with");
    if (scopes_.size() == 1 && outer.in_columns) branch_.emplace();
    scope().at_entry = false;
    scopes_.push_back(inner);
  }

  void close() {
    if (scopes_.size() > 1) scopes_.pop_back();
    if (scopes_.size() > 1 || !branch_) return;
    for (const auto& [name, times] : *branch_) {
      all_branches[name] += times;
      largest_branch[name] = std::max(largest_branch[name], times);
    }
    branch_.reset();
  }

  // [schema.]table [[as] alias]
  void add_entry() {
    scope().at_entry = false;
    if (is(at_ + 1, ".")) at_ += 2;
    const std::string name = unquoted_name(tokens_[at_].text);
    std::string alias = name;
    const bool is_function = is(at_ + 1, "(");
    if (!is_function) {
      if (is(at_ + 1, "as")) ++at_;
      if (at_ + 1 < tokens_.size() && is_alias(tokens_[at_ + 1])) alias = unquoted_name(tokens_[++at_].text);
    }
    const std::optional<SqliteTable> table = is_function ? std::nullopt : find_table(connection_, name);
    if (!table) return;  // of a function, or of `with`
    if (table->kind == SqliteTable::Kind::kView && scope().gives_rows) row_views.push_back(table->name);
    ++(branch_ ? *branch_ : base)[table->name];
    if (std::exchange(scope().is_natural, false)) add_natural(*table);
    entries.push_back({alias, *table});
  }

  static bool is_alias(const SqlToken& token) {
    return token.is_name() && !is_any(token, kBehindTable) && !is_any(token, kEndOfFrom) &&
           !is_any(token, kCompoundOperators);
  }

  // --- equalities ---

  void add_natural(const SqliteTable& table) {
    for (const SqliteTableColumn& column : table.columns) {
      for (const TableEntry& entry : entries) add_join(entry.table, column.name, table, column.name);
    }
  }

  void add_using() {
    for (std::size_t at = at_ + 2; at < tokens_.size() && !is(at, ")"); ++at) {
      if (!tokens_[at].is_name()) continue;
      const std::string column = unquoted_name(tokens_[at].text);
      for (std::size_t i = 0; i < entries.size(); ++i) {
        for (std::size_t j = i + 1; j < entries.size(); ++j)
          add_join(entries[i].table, column, entries[j].table, column);
      }
    }
  }

  void add_equality(std::size_t at) {
    std::size_t behind = at + 1;
    if (tokens_[at].is("=")) {
      const std::string_view before = tokens_[at - 1].text;
      if (before == "=" || before == "<" || before == ">" || before == "!") return;
      if (is(behind, "=")) ++behind;
    } else if (!tokens_[at].is("is")) {
      return;
    }
    const std::optional<Operand> left = operand_before(at);
    const std::optional<Operand> right = operand_at(behind);
    if (!left || !right) return;
    if (is_any(tokens_[left->first - 1], kOperators) && !tokens_[left->first - 1].is("(")) return;
    if (right->last + 1 < tokens_.size() && is_any(tokens_[right->last + 1], kOperators)) return;
    for (const TableEntry& some : entries) {
      if (!may_be(*left, some)) continue;
      for (const TableEntry& other : entries) {
        if (&some != &other && may_be(*right, other))
          add_join(some.table, left->column, other.table, right->column);
      }
    }
  }

  std::optional<Operand> operand_before(std::size_t end) const {
    std::size_t first = end - 1;
    while (first >= 2 && tokens_[first].is_name() && tokens_[first - 1].is(".")) first -= 2;
    return first == 0 ? std::nullopt : operand(first, end - 1);
  }

  std::optional<Operand> operand_at(std::size_t first) const {
    std::size_t last = first;
    while (is(last + 1, ".")) last += 2;
    return last < tokens_.size() ? operand(first, last) : std::nullopt;
  }

  std::optional<Operand> operand(std::size_t first, std::size_t last) const {
    if (!tokens_[first].is_name() || !tokens_[last].is_name()) return std::nullopt;
    const std::string qualifier = last > first ? unquoted_name(tokens_[last - 2].text) : "";
    return Operand{qualifier, unquoted_name(tokens_[last].text), first, last};
  }

  static bool may_be(const Operand& operand, const TableEntry& entry) {
    return operand.qualifier.empty() || is_same_name(operand.qualifier, entry.alias);
  }

  void add_join(const SqliteTable& some, const std::string& column, const SqliteTable& other,
                const std::string& other_column) {
    const bool are_tables = some.kind == SqliteTable::Kind::kTable && other.kind == SqliteTable::Kind::kTable;
    const SqliteTableColumn* const left = some.column(column);
    const SqliteTableColumn* const right = other.column(other_column);
    if (!are_tables || left == nullptr || right == nullptr) return;
    equal.push_back({some.name, left->name, other.name, right->name});
  }

  SqliteConnection& connection_;
  std::vector<SqlToken> tokens_;
  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  std::optional<Entries> branch_;  // the one that is being walked
};

}  // namespace

std::string text_of_view(SqliteConnection& connection, const std::string& view) {
  SqliteStatement text(connection, "reading the text of a view",
                       "select sql from main.sqlite_schema where type = 'view' and name = ?1 collate nocase",
                       view);
  return text.step() ? std::string(text[0].text()) : std::string();
}

SqliteViewJoins read_view_joins(SqliteConnection& connection, const std::string& view) {
  const std::string sql = text_of_view(connection, view);
  Walker walker(connection, sql);
  walker.walk();
  SqliteViewJoins joins;
  joins.equal = std::move(walker.equal);
  joins.recursive = walker.recursive;
  joins.is_compound = walker.is_compound;
  add(joins.entries, walker.base);
  add(joins.entries, walker.all_branches);
  add(joins.together, walker.base);
  add(joins.together, walker.largest_branch);
  for (const TableEntry& entry : walker.entries) {
    if (entry.table.kind != SqliteTable::Kind::kView) continue;
    const SqliteViewJoins inner = read_view_joins(connection, entry.table.name);
    joins.equal.insert(joins.equal.end(), inner.equal.begin(), inner.equal.end());
    add(joins.entries, inner.entries);
    add(joins.together, inner.entries);
    joins.recursive = joins.recursive || inner.recursive;
    const bool gives_rows = std::find(walker.row_views.begin(), walker.row_views.end(), entry.table.name) !=
                            walker.row_views.end();
    joins.is_compound = joins.is_compound || (gives_rows && inner.is_compound);
    joins.entries.erase(entry.table.name);
    joins.together.erase(entry.table.name);
  }
  return joins;
}

}  // namespace lockstep
