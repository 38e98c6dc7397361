#include "replicator/source/sqlite/catalog/view_links.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "replicator/source/sqlite/catalog/sql_tokens.h"
#include "replicator/source/sqlite/catalog/table.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

using Tokens = std::vector<SqlToken>;

constexpr std::array<std::string_view, 6> kBehindFrom = {"where",  "group", "having",
                                                         "window", "order", "limit"};
constexpr std::array<std::string_view, 11> kInFrom = {"on",    "using", "join",    "left",    "right", "full",
                                                      "inner", "cross", "natural", "indexed", "not"};

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool empty() const { return begin >= end; }
};

struct Select;

// A table, or a query in its place.
struct Entry {
  std::string alias;
  std::optional<SqliteTable> table;           // a table or a view
  std::vector<std::unique_ptr<Select>> from;  // its branches, if it is a query; the first names the columns
  const Entry* recursive = nullptr;           // the one around it that it repeats
};

struct Item {
  std::string name;
  Range value;
  bool is_all = false;  // "*" or "table.*"
};

struct Select {
  const Select* around = nullptr;
  const Tokens* tokens = nullptr;
  std::vector<std::unique_ptr<Entry>> entries;
  std::vector<Item> items;
  std::map<std::string, std::pair<Range, int>> with;  // by name: the query, and how often it is used
};

struct Column {
  const Entry* entry;
  std::string name;
};
// Where a value comes from: one column, or one of each branch of a union. Empty: nobody can tell.
using Columns = std::vector<Column>;

// Of which a condition says nothing about rows that are there in any case.
struct Join {
  bool keeps_left = false;   // an outer join, which has the rows before it in any case
  bool keeps_right = false;  // likewise those of the last entry
  Range right = {};          // the places of the last entry
};

class Reader {
 public:
  explicit Reader(SqliteConnection& connection) : connection_(connection) {}

  SqliteViewLinks read(const std::string& view) {
    const Entry documents{{}, find_table(connection_, view), in_view(view), nullptr};
    for (const Condition& condition : conditions_) add(condition);
    SqliteViewLinks found;
    found.recursive = is_recursive_;
    found.is_compound = is_compound(documents);
    ViewGraph& graph = found.graph;
    for (std::size_t place = 0; place < places_.size(); ++place) {
      const SqliteTable& table = *places_[place]->table;
      const std::string name = plain_or_quoted(table.name);
      graph.places.push_back({name, places_branches_[place]});
      if (!graph.keys.contains(name)) graph.keys[name] = keys_of(table);
    }
    for (const auto& [places, columns] : equal_) {
      ViewGraph::Link link{places.first, places.second, {}, {}};
      for (const auto& [column, other] : columns) {
        link.columns.push_back(plain_or_quoted(column));
        link.other_columns.push_back(plain_or_quoted(other));
      }
      graph.links.push_back(std::move(link));
    }
    const Columns ids = origins(documents, "_id");
    // A step of a recursion gives rows to the next one.
    if (is_recursive_ && ids.size() > 1) return found;
    for (const Column& id : ids) graph.documents[number_of(id.entry)] = plain_or_quoted(id.name);
    return found;
  }

 private:
  using Selects = std::vector<std::unique_ptr<Select>>;
  struct Condition {
    const Select* select;
    Range left;
    const Select* other;  // the select of the right side
    Range right;
    Join join = {};
  };

  // --- what becomes of it ---

  static bool is_compound(const Entry& entry) {
    return entry.from.size() > 1 || std::any_of(entry.from.begin(), entry.from.end(), [](const auto& select) {
             return std::any_of(select->entries.begin(), select->entries.end(),
                                [](const auto& inner) { return is_compound(*inner); });
           });
  }

  std::size_t number_of(const Entry* place) const {
    return static_cast<std::size_t>(std::find(places_.begin(), places_.end(), place) - places_.begin());
  }

  static std::vector<ColumnNames> keys_of(const SqliteTable& table) {
    std::vector<ColumnNames> keys;
    for (const SqliteUnique& unique : table.uniques) {
      ColumnNames columns;
      for (const SqliteUnique::Column& column : unique.columns) {
        if (column.is_column) columns.push_back(plain_or_quoted(unquoted_name(column.expression)));
      }
      if (unique.condition.empty() && columns.size() == unique.columns.size()) keys.push_back(columns);
    }
    return keys;
  }

  // --- queries ---

  Selects in_view(const std::string& view) {
    texts_.push_back(std::make_unique<std::string>(text_of_view(connection_, view)));
    auto tokens = std::make_unique<Tokens>();
    SqlTokens words(*texts_.back());
    while (const std::optional<SqlToken> token = words.next()) tokens->push_back(*token);
    std::size_t begin = 0;
    while (begin < tokens->size() && !(*tokens)[begin].is("as")) ++begin;
    const Range range{begin + 1, tokens->size()};
    tokens_.push_back(std::move(tokens));
    Selects selects;
    if (!range.empty()) in_query(*tokens_.back(), range, nullptr, selects);
    return selects;
  }

  // The end of the bracket that opens there.
  static std::size_t closing(const Tokens& tokens, std::size_t open) {
    std::size_t depth = 0;
    for (std::size_t at = open; at < tokens.size(); ++at) {
      if (tokens[at].is("(")) ++depth;
      if (tokens[at].is(")") && --depth == 0) return at;
    }
    return tokens.size();
  }

  static bool opens_query(const Tokens& tokens, std::size_t at) {
    return at + 1 < tokens.size() && tokens[at].is("(") &&
           (tokens[at + 1].is("select") || tokens[at + 1].is("with"));
  }

  // The first token outside of brackets for which `is_wanted` holds; the end of the range: there is none.
  template <typename IsWanted>
  static std::size_t find(const Tokens& tokens, Range range, const IsWanted& is_wanted) {
    for (std::size_t at = range.begin; at < range.end; ++at) {
      if (is_wanted(tokens[at])) return at;
      if (tokens[at].is("(")) at = closing(tokens, at);
    }
    return range.end;
  }

  template <typename IsBetween>
  static std::vector<Range> split(const Tokens& tokens, Range range, const IsBetween& is_between) {
    std::vector<Range> parts;
    while (true) {
      const std::size_t end = find(tokens, range, is_between);
      parts.push_back({range.begin, end});
      if (end >= range.end) return parts;
      range.begin = end + 1;
    }
  }

  // One that `repeats` itself makes rows of one branch from those of another.
  void in_query(const Tokens& tokens, Range range, const Select* around, Selects& selects,
                bool repeats = false) {
    Select* with = nullptr;
    if (tokens[range.begin].is("with")) {
      selects.push_back(std::make_unique<Select>(Select{around, &tokens, {}, {}, {}}));
      with = selects.back().get();
      kept_.push_back(std::move(selects.back()));
      selects.pop_back();
      range.begin = in_with(tokens, range, *with);
    }
    const std::vector<Range> branches =
        split(tokens, range, [](const SqlToken& token) { return is_any(token, kCompoundOperators); });
    const int number = branches.size() > 1 && !repeats ? ++operations_ : 0;
    for (std::size_t i = 0; i < branches.size(); ++i) {
      if (number != 0) branches_[number] = static_cast<int>(i);
      selects.push_back(
          std::make_unique<Select>(Select{with == nullptr ? around : with, &tokens, {}, {}, {}}));
      in_select(tokens, branches[i], *selects.back());
    }
    branches_.erase(number);
  }

  // Returns where the query behind it begins.
  std::size_t in_with(const Tokens& tokens, Range range, Select& select) {
    std::size_t at = range.begin + 1;
    is_recursive_ = is_recursive_ || (at < range.end && tokens[at].is("recursive"));
    std::string name;
    for (; at < range.end && !tokens[at].is("select"); ++at) {
      if (opens_query(tokens, at)) {
        const std::size_t end = closing(tokens, at);
        select.with[name] = {{at + 1, end}, 0};
        at = end;
      } else if (tokens[at].is("(")) {
        name.clear();  // its columns have names of their own
        at = closing(tokens, at);
      } else if (at + 1 < range.end && tokens[at].is_name() && tokens[at + 1].is("as")) {
        name = unquoted_name(tokens[at].text);
      }
    }
    return at;
  }

  void in_select(const Tokens& tokens, Range range, Select& select) {
    while (!range.empty() && (tokens[range.begin].is("select") || tokens[range.begin].is("all") ||
                              tokens[range.begin].is("distinct")))
      ++range.begin;
    // "is distinct from" has no from clause.
    std::size_t from = range.begin;
    const auto is_from = [](const SqlToken& token) { return token.is("from"); };
    while ((from = find(tokens, {from, range.end}, is_from)) < range.end && from > range.begin &&
           tokens[from - 1].is("distinct"))
      ++from;
    for (const Range& item :
         split(tokens, {range.begin, from}, [](const SqlToken& token) { return token.is(","); }))
      add_item(tokens, item, select);
    const auto is_behind = [](const SqlToken& token) { return is_any(token, kBehindFrom); };
    std::size_t end = find(tokens, {std::min(from + 1, range.end), range.end}, is_behind);
    in_from(tokens, {std::min(from + 1, range.end), end}, select);
    in_brackets(tokens, {range.begin, from}, select);
    while (end < range.end) {
      const Range clause{end + 1, find(tokens, {end + 1, range.end}, is_behind)};
      if (tokens[end].is("where") || tokens[end].is("having")) in_condition(tokens, clause, select);
      in_brackets(tokens, clause, select);
      end = clause.end;
    }
  }

  static void add_item(const Tokens& tokens, Range range, Select& select) {
    if (range.empty()) return;
    const SqlToken& last = tokens[range.end - 1];
    Item item{unquoted_name(last.text), range, last.is("*")};
    if (range.end - range.begin >= 2) {
      const SqlToken& before = tokens[range.end - 2];
      if (before.is("as"))
        item.value.end -= 2;
      else if (!before.is(".") && last.is_name())
        --item.value.end;
    }
    select.items.push_back(std::move(item));
  }

  // The queries that stand in brackets.
  void in_brackets(const Tokens& tokens, Range range, const Select& select) {
    for (std::size_t at = range.begin; at < range.end; ++at) {
      if (!opens_query(tokens, at) || queries_.contains({&select, at})) continue;
      in_query_of_bracket(tokens, at, select);
      at = closing(tokens, at);
    }
  }

  const Selects& in_query_of_bracket(const Tokens& tokens, std::size_t open, const Select& select) {
    Selects& selects = queries_[{&select, open}];
    Selects found;
    in_query(tokens, {open + 1, closing(tokens, open)}, &select, found);
    return selects = std::move(found);
  }

  // --- from ---

  void in_from(const Tokens& tokens, Range range, Select& select) {
    bool is_natural = false;
    Join join, next;
    for (std::size_t at = range.begin; at < range.end; ++at) {
      next.keeps_left = next.keeps_left || tokens[at].is("left") || tokens[at].is("full");
      next.keeps_right = next.keeps_right || tokens[at].is("right") || tokens[at].is("full");
      const std::size_t first = places_.size();
      if (tokens[at].is("natural")) {
        is_natural = true;
      } else if (tokens[at].is("on")) {
        const Range condition{at + 1, find(tokens, {at + 1, range.end}, [](const SqlToken& token) {
                                return token.is(",") || (is_any(token, kInFrom) && !token.is("not"));
                              })};
        in_condition(tokens, condition, select, join);
        in_brackets(tokens, condition, select);
        at = condition.end - 1;
      } else if (tokens[at].is("using")) {
        for (++at; at < range.end && !tokens[at].is(")"); ++at) {
          if (tokens[at].is_name()) share(select, unquoted_name(tokens[at].text));
        }
      } else if (tokens[at].is("(") && !opens_query(tokens, at)) {
        const std::size_t end = closing(tokens, at);
        in_from(tokens, {at + 1, end}, select);
        at = end;
        join = std::exchange(next, {});
        join.right = {first, places_.size()};
      } else if (opens_query(tokens, at) || (tokens[at].is_name() && !is_word_of_join(tokens[at]))) {
        at = add_entry(tokens, at, range.end, select);
        join = std::exchange(next, {});
        join.right = {first, places_.size()};
        if (std::exchange(is_natural, false)) share_all(select);
      }
    }
  }

  static bool is_word_of_join(const SqlToken& token) {
    return is_any(token, kInFrom) || token.is("outer") || token.is("as");
  }

  // Returns its last token.
  std::size_t add_entry(const Tokens& tokens, std::size_t at, std::size_t end, Select& select) {
    auto entry = std::make_unique<Entry>();
    if (opens_query(tokens, at)) {
      in_query(tokens, {at + 1, closing(tokens, at)}, select.around, entry->from);
      at = closing(tokens, at);
    } else {
      if (at + 2 < end && tokens[at + 1].is(".")) at += 2;
      entry->alias = unquoted_name(tokens[at].text);
      if (at + 1 < end && tokens[at + 1].is("(")) {  // a function of rows
        in_brackets(tokens, {at + 1, closing(tokens, at + 1)}, select);
        at = closing(tokens, at + 1);
      } else if (!use_with(entry->alias, select, *entry)) {
        entry->table = find_table(connection_, entry->alias);
      }
    }
    if (at + 1 < end && tokens[at + 1].is("as")) ++at;
    if (at + 1 < end && tokens[at + 1].is_name() && !is_word_of_join(tokens[at + 1]))
      entry->alias = unquoted_name(tokens[++at].text);
    if (entry->table && entry->table->kind == SqliteTable::Kind::kView) {
      entry->from = in_view(entry->table->name);
    } else if (entry->table && entry->table->kind == SqliteTable::Kind::kTable) {
      places_.push_back(entry.get());
      places_branches_.push_back(branches_);
    }
    select.entries.push_back(std::move(entry));
    return at;
  }

  // Each use is a place of its own; one within itself repeats it.
  bool use_with(const std::string& name, const Select& select, Entry& entry) {
    for (const Select* around = &select; around != nullptr; around = around->around) {
      for (const auto& [known, query] : around->with) {
        if (!is_same_name(known, name)) continue;
        const auto [begun, is_new] = begun_.emplace(&query, &entry);
        if (!is_new) {
          entry.recursive = begun->second;
          return true;
        }
        in_query(*around->tokens, query.first, around, entry.from, names(*around->tokens, query.first, name));
        begun_.erase(&query);
        return true;
      }
    }
    return false;
  }

  static bool names(const Tokens& tokens, Range range, const std::string& name) {
    return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(range.begin),
                       tokens.begin() + static_cast<std::ptrdiff_t>(range.end), [&](const SqlToken& token) {
                         return token.is_name() && is_same_name(unquoted_name(token.text), name);
                       });
  }

  void share_all(const Select& select) {
    const Entry& entry = *select.entries.back();
    if (!entry.table) return;
    for (const SqliteTableColumn& column : entry.table->columns) share(select, column.name);
  }

  // The last table's column equals those of the same name before it.
  void share(const Select& select, const std::string& column) {
    const Columns last = origins(*select.entries.back(), column);
    for (const auto& entry : select.entries) {
      if (entry != select.entries.back()) add_equalities(last, origins(*entry, column), {});
    }
  }

  // --- conditions ---

  void in_condition(const Tokens& tokens, Range range, const Select& select, const Join& join = {}) {
    const auto leaves_open = [](const SqlToken& token) { return token.is("or") || token.is("case"); };
    if (find(tokens, range, leaves_open) < range.end) return;
    for (const Range& part : split(tokens, range, [](const SqlToken& token) { return token.is("and"); })) {
      if (part.empty()) continue;
      const bool in_bracket = tokens[part.begin].is("(") && closing(tokens, part.begin) == part.end - 1;
      if (in_bracket && !opens_query(tokens, part.begin)) {
        in_condition(tokens, {part.begin + 1, part.end - 1}, select, join);
        continue;
      }
      const std::size_t sign =
          find(tokens, part, [](const SqlToken& token) { return token.is("=") || token.is("in"); });
      if (sign >= part.end) continue;
      const Range left{part.begin, sign};
      Range right{sign + 1, part.end};
      if (tokens[sign].is("=") && !right.empty() && tokens[right.begin].is("=")) ++right.begin;
      if (tokens[sign].is("=")) {
        conditions_.push_back({&select, left, &select, right, join});
      } else if (opens_query(tokens, right.begin) && closing(tokens, right.begin) == right.end - 1) {
        for (const auto& branch : in_query_of_bracket(tokens, right.begin, select)) {
          if (branch->items.size() == 1)
            conditions_.push_back({&select, left, branch.get(), branch->items.front().value, {}});
        }
      }
    }
  }

  void add(const Condition& condition) {
    add_equalities(column_of(*condition.select, condition.left), column_of(*condition.other, condition.right),
                   condition.join);
  }

  void add_equalities(const Columns& left, const Columns& right, const Join& join) {
    for (const Column& some : left) {
      for (const Column& other : right) {
        const std::size_t first = number_of(some.entry), second = number_of(other.entry);
        if (first == second || !is_told(join, first, second)) continue;
        if (first < second)
          equal_[{first, second}].emplace(some.name, other.name);
        else
          equal_[{second, first}].emplace(other.name, some.name);
      }
    }
  }

  // Whether the condition of a join must hold for the rows of one of the two.
  static bool is_told(const Join& join, std::size_t first, std::size_t second) {
    const auto is_right = [&](std::size_t place) {
      return join.right.begin <= place && place < join.right.end;
    };
    return (!join.keeps_left || is_right(first) || is_right(second)) &&
           (!join.keeps_right || !is_right(first) || !is_right(second));
  }

  // --- names ---

  // "column", "table.column", "schema.table.column", and nothing else.
  static Columns column_of(const Select& select, Range range) {
    const Tokens& tokens = *select.tokens;
    for (std::size_t at = range.begin; at < range.end; ++at) {
      const bool is_dot = (at - range.begin) % 2 == 1;
      if (is_dot ? !tokens[at].is(".") : !tokens[at].is_name()) return {};
    }
    const std::size_t words = range.end - range.begin;
    if (words % 2 == 0) return {};
    const std::string column = unquoted_name(tokens[range.end - 1].text);
    const std::string table = words > 1 ? unquoted_name(tokens[range.end - 3].text) : "";
    for (const Select* around = &select; around != nullptr; around = around->around) {
      std::vector<const Entry*> meant;
      for (const auto& entry : around->entries) {
        if (table.empty() ? has(*entry, column) : is_same_name(entry->alias, table))
          meant.push_back(entry.get());
      }
      if (meant.size() > 1) return {};
      if (meant.size() == 1) return origins(*meant.front(), column);
    }
    return {};
  }

  static bool has(const Entry& entry, const std::string& column) {
    if (entry.table) return entry.table->column(column) != nullptr;
    return entry.from.empty() ||
           std::any_of(entry.from.front()->items.begin(), entry.from.front()->items.end(),
                       [&](const Item& item) { return item.is_all || is_same_name(item.name, column); });
  }

  // The columns of tables that give a column of an entry.
  static Columns origins(const Entry& entry, const std::string& column) {
    if (entry.recursive != nullptr && !entry.recursive->from.empty())
      return of_item(*entry.recursive->from.front(), column);
    if (entry.from.empty()) {
      const SqliteTableColumn* const found = entry.table ? entry.table->column(column) : nullptr;
      if (found == nullptr || entry.table->kind != SqliteTable::Kind::kTable) return {};
      return {{&entry, found->name}};
    }
    const Select& first = *entry.from.front();
    const std::optional<std::size_t> at = position(entry, column);
    if (entry.from.size() == 1) return at ? of_item(first, first.items[*at]) : of_all(first, column);
    Columns all;
    for (const auto& select : entry.from) {
      const bool is_there = at && *at < select->items.size() && !has_all(*select);
      const Columns some = is_there ? of_item(*select, select->items[*at]) : Columns{};
      if (some.empty()) return {};  // a column that one branch does not tell is not told
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  static bool has_all(const Select& select) {
    return std::any_of(select.items.begin(), select.items.end(),
                       [](const Item& item) { return item.is_all; });
  }

  // Among the items of the first select. A view may call its columns in another way than its query does.
  static std::optional<std::size_t> position(const Entry& entry, const std::string& column) {
    const std::vector<Item>& items = entry.from.front()->items;
    if (entry.table && entry.table->columns.size() == items.size()) {
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (is_same_name(entry.table->columns[i].name, column)) return i;
      }
      return std::nullopt;
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].is_all && is_same_name(items[i].name, column)) return i;
    }
    return std::nullopt;
  }

  static Columns of_item(const Select& select, const Item& item) {
    return item.is_all ? of_all(select, item.name) : column_of(select, item.value);
  }

  static Columns of_item(const Select& select, const std::string& column) {
    for (const Item& item : select.items) {
      if (is_same_name(item.name, column)) return column_of(select, item.value);
    }
    return of_all(select, column);
  }

  // "*" gives a column of any of the tables, if one alone has it.
  static Columns of_all(const Select& select, const std::string& column) {
    Columns found;
    bool is_found = false;
    for (const auto& entry : select.entries) {
      if (!has(*entry, column)) continue;
      if (std::exchange(is_found, true)) return {};
      found = origins(*entry, column);
    }
    return found;
  }

  SqliteConnection& connection_;
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::unique_ptr<Tokens>> tokens_;
  Selects kept_;  // of `with`
  // In brackets that are no entry: by their select and their opening.
  std::map<std::pair<const Select*, std::size_t>, Selects> queries_;
  std::vector<const Entry*> places_;
  std::vector<std::map<int, int>> places_branches_;
  std::map<int, int> branches_;  // those that are being read
  int operations_ = 0;           // union, intersect and except
  bool is_recursive_ = false;
  std::vector<Condition> conditions_;
  std::map<const void*, const Entry*> begun_;  // queries of `with` that are being read, and for whom
  // By the numbers of two places.
  std::map<std::pair<std::size_t, std::size_t>, std::set<std::pair<std::string, std::string>>> equal_;
};

}  // namespace

std::string text_of_view(SqliteConnection& connection, const std::string& view) {
  SqliteStatement text(connection, "reading the text of a view",
                       "select sql from main.sqlite_schema where type = 'view' and name = ?1 collate nocase",
                       view);
  return text.step() ? std::string(text[0].text()) : std::string();
}

SqliteViewLinks read_view_links(SqliteConnection& connection, const std::string& view) {
  return Reader(connection).read(view);
}

}  // namespace lockstep
