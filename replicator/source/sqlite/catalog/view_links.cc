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
#include "replicator/source/sqlite/catalog/view_joins.h"

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

class Reader {
 public:
  explicit Reader(SqliteConnection& connection) : connection_(connection) {}

  SqliteViewLinks read(const std::string& view) {
    const Entry documents{{}, find_table(connection_, view), in_view(view), nullptr};
    for (const Condition& condition : conditions_) add(condition);
    SqliteViewLinks found;
    std::set<const Entry*> reached;
    if (const std::optional<Column> id = origin(documents, "_id")) reached = reached_from(id->entry);
    for (const Entry* place : places_) {
      found.seen.insert(place->table->name);
      if (!reached.contains(place)) found.unreached.insert(place->table->name);
    }
    for (const auto& [places, columns] : equal_) {
      SqliteLink link{places.first->table->name, {}, places.second->table->name, {}};
      for (const auto& [column, other] : columns) {
        link.columns.push_back(column);
        link.other_columns.push_back(other);
      }
      found.links.push_back(std::move(link));
    }
    return found;
  }

 private:
  using Selects = std::vector<std::unique_ptr<Select>>;
  struct Condition {
    const Select* select;
    Range left;
    const Select* other;  // the select of the right side
    Range right;
  };

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

  // --- queries ---

  void in_query(const Tokens& tokens, Range range, const Select* around, Selects& selects) {
    Select* with = nullptr;
    if (tokens[range.begin].is("with")) {
      selects.push_back(std::make_unique<Select>(Select{around, &tokens, {}, {}, {}}));
      with = selects.back().get();
      kept_.push_back(std::move(selects.back()));
      selects.pop_back();
      range.begin = in_with(tokens, range, *with);
    }
    for (const Range& branch :
         split(tokens, range, [](const SqlToken& token) { return is_any(token, kCompoundOperators); })) {
      selects.push_back(
          std::make_unique<Select>(Select{with == nullptr ? around : with, &tokens, {}, {}, {}}));
      in_select(tokens, branch, *selects.back());
    }
  }

  // Returns the beginning of the query behind it.
  static std::size_t in_with(const Tokens& tokens, Range range, Select& select) {
    std::size_t at = range.begin + 1;
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
    for (std::size_t at = range.begin; at < range.end; ++at) {
      if (tokens[at].is("natural")) {
        is_natural = true;
      } else if (tokens[at].is("on")) {
        const Range condition{at + 1, find(tokens, {at + 1, range.end}, [](const SqlToken& token) {
                                return token.is(",") || (is_any(token, kInFrom) && !token.is("not"));
                              })};
        in_condition(tokens, condition, select);
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
      } else if (opens_query(tokens, at) || (tokens[at].is_name() && !is_word_of_join(tokens[at]))) {
        at = add_entry(tokens, at, range.end, select);
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
        in_query(*around->tokens, query.first, around, entry.from);
        begun_.erase(&query);
        return true;
      }
    }
    return false;
  }

  void share_all(const Select& select) {
    const Entry& entry = *select.entries.back();
    if (!entry.table) return;
    for (const SqliteTableColumn& column : entry.table->columns) share(select, column.name);
  }

  // The last table's column equals those of the same name before it.
  void share(const Select& select, const std::string& column) {
    const std::optional<Column> last = origin(*select.entries.back(), column);
    for (const auto& entry : select.entries) {
      if (entry == select.entries.back() || !last) continue;
      if (const std::optional<Column> other = origin(*entry, column)) add_equality(*last, *other);
    }
  }

  // --- conditions ---

  void in_condition(const Tokens& tokens, Range range, const Select& select) {
    const auto leaves_open = [](const SqlToken& token) { return token.is("or") || token.is("case"); };
    if (find(tokens, range, leaves_open) < range.end) return;
    for (const Range& part : split(tokens, range, [](const SqlToken& token) { return token.is("and"); })) {
      if (part.empty()) continue;
      const bool in_bracket = tokens[part.begin].is("(") && closing(tokens, part.begin) == part.end - 1;
      if (in_bracket && !opens_query(tokens, part.begin)) {
        in_condition(tokens, {part.begin + 1, part.end - 1}, select);
        continue;
      }
      const std::size_t sign =
          find(tokens, part, [](const SqlToken& token) { return token.is("=") || token.is("in"); });
      if (sign >= part.end) continue;
      const Range left{part.begin, sign};
      Range right{sign + 1, part.end};
      if (tokens[sign].is("=") && !right.empty() && tokens[right.begin].is("=")) ++right.begin;
      if (tokens[sign].is("=")) {
        conditions_.push_back({&select, left, &select, right});
      } else if (opens_query(tokens, right.begin) && closing(tokens, right.begin) == right.end - 1) {
        for (const auto& branch : in_query_of_bracket(tokens, right.begin, select)) {
          if (branch->items.size() == 1)
            conditions_.push_back({&select, left, branch.get(), branch->items.front().value});
        }
      }
    }
  }

  void add(const Condition& condition) {
    const std::optional<Column> some = column_of(*condition.select, condition.left);
    const std::optional<Column> other = column_of(*condition.other, condition.right);
    if (some && other) add_equality(*some, *other);
  }

  void add_equality(const Column& some, const Column& other) {
    if (some.entry == other.entry) return;
    const auto known = equal_.find({other.entry, some.entry});
    if (known != equal_.end())
      known->second.emplace(other.name, some.name);
    else
      equal_[{some.entry, other.entry}].emplace(some.name, other.name);
  }

  // --- names ---

  // "column", "table.column", "schema.table.column", and nothing else.
  static std::optional<Column> column_of(const Select& select, Range range) {
    const Tokens& tokens = *select.tokens;
    for (std::size_t at = range.begin; at < range.end; ++at) {
      const bool is_dot = (at - range.begin) % 2 == 1;
      if (is_dot ? !tokens[at].is(".") : !tokens[at].is_name()) return std::nullopt;
    }
    const std::size_t words = range.end - range.begin;
    if (words % 2 == 0) return std::nullopt;
    const std::string column = unquoted_name(tokens[range.end - 1].text);
    const std::string table = words > 1 ? unquoted_name(tokens[range.end - 3].text) : "";
    for (const Select* around = &select; around != nullptr; around = around->around) {
      std::vector<const Entry*> meant;
      for (const auto& entry : around->entries) {
        if (table.empty() ? has(*entry, column) : is_same_name(entry->alias, table))
          meant.push_back(entry.get());
      }
      if (meant.size() > 1) return std::nullopt;
      if (meant.size() == 1) return origin(*meant.front(), column);
    }
    return std::nullopt;
  }

  static bool has(const Entry& entry, const std::string& column) {
    if (entry.table) return entry.table->column(column) != nullptr;
    return entry.from.empty() ||
           std::any_of(entry.from.front()->items.begin(), entry.from.front()->items.end(),
                       [&](const Item& item) { return item.is_all || is_same_name(item.name, column); });
  }

  // The column of a table that gives a column of an entry.
  static std::optional<Column> origin(const Entry& entry, const std::string& column) {
    if (entry.recursive != nullptr && !entry.recursive->from.empty())
      return of_item(*entry.recursive->from.front(), column);
    if (entry.from.empty()) {
      const SqliteTableColumn* const found = entry.table ? entry.table->column(column) : nullptr;
      if (found == nullptr || entry.table->kind != SqliteTable::Kind::kTable) return std::nullopt;
      return Column{&entry, found->name};
    }
    const Select& select = *entry.from.front();
    if (entry.table) return of_view(*entry.table, select, column);
    return of_item(select, column);
  }

  static std::optional<Column> of_item(const Select& select, const std::string& column) {
    for (const Item& item : select.items) {
      if (is_same_name(item.name, column)) return column_of(select, item.value);
    }
    return of_all(select, column);
  }

  // A view may call its columns in another way than its query does.
  static std::optional<Column> of_view(const SqliteTable& view, const Select& select,
                                       const std::string& column) {
    const auto found = std::find_if(view.columns.begin(), view.columns.end(), [&](const auto& candidate) {
      return is_same_name(candidate.name, column);
    });
    if (found == view.columns.end()) return std::nullopt;
    if (select.items.size() != view.columns.size()) return of_item(select, column);
    const Item& item = select.items[static_cast<std::size_t>(found - view.columns.begin())];
    return item.is_all ? of_all(select, column) : column_of(select, item.value);
  }

  // "*" gives a column of any of the tables, if one alone has it.
  static std::optional<Column> of_all(const Select& select, const std::string& column) {
    std::optional<Column> found;
    for (const auto& entry : select.entries) {
      if (!has(*entry, column)) continue;
      if (found) return std::nullopt;
      found = origin(*entry, column);
      if (!found) return std::nullopt;
    }
    return found;
  }

  std::set<const Entry*> reached_from(const Entry* document) const {
    std::set<const Entry*> reached{document};
    for (bool grown = true; grown;) {
      grown = false;
      for (const auto& [places, columns] : equal_) {
        if (reached.contains(places.first) == reached.contains(places.second)) continue;
        reached.insert(places.first);
        reached.insert(places.second);
        grown = true;
      }
    }
    return reached;
  }

  SqliteConnection& connection_;
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::unique_ptr<Tokens>> tokens_;
  Selects kept_;  // of `with`
  // In brackets that are no entry: by their select and their opening.
  std::map<std::pair<const Select*, std::size_t>, Selects> queries_;
  std::vector<const Entry*> places_;
  std::vector<Condition> conditions_;
  std::map<const void*, const Entry*> begun_;  // queries of `with` that are being read, and their readers
  std::map<std::pair<const Entry*, const Entry*>, std::set<std::pair<std::string, std::string>>> equal_;
};

}  // namespace

SqliteViewLinks read_view_links(SqliteConnection& connection, const std::string& view) {
  return Reader(connection).read(view);
}

}  // namespace lockstep
