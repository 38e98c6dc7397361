#include "replicator/source/sqlite/catalog/compared_rows.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "replicator/source/sqlite/catalog/sql_tokens.h"
#include "replicator/source/sqlite/catalog/table.h"
#include "replicator/source/sqlite/catalog/view_links.h"
#include "replicator/source/sqlite/catalog/view_reads.h"

namespace lockstep {
namespace {

constexpr std::string_view kOutsideFrom[] = {"where", "group", "having", "window",    "order",
                                             "limit", "union", "except", "intersect", "select"};
constexpr std::string_view kNoAlias[] = {"as",    "on",    "using", "join",    "left",    "right", "full",
                                         "inner", "cross", "outer", "natural", "indexed", "not"};

std::string folded(std::string_view name) {
  std::string text = unquoted_name(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return c < 0x80 ? static_cast<char>(std::tolower(c)) : char(c); });
  return text;
}

// Reads the text of a view, bracket by bracket.
class BracketReader {
 public:
  explicit BracketReader(std::string_view sql) {
    SqlTokens tokens(sql);
    for (std::optional<SqlToken> token = tokens.next(); token; token = tokens.next())
      tokens_.push_back(*token);
  }

  SqliteComparedRows read() {
    std::vector<Bracket> brackets(1);
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const SqlToken& token = tokens_[at_];
      if (token.is("(")) {
        brackets.emplace_back();
      } else if (token.is(")") && brackets.size() > 1) {
        const Bracket inner = std::move(brackets.back());
        brackets.pop_back();
        close(inner, brackets.back());
      } else {
        take(token, brackets.back());
      }
    }
    // The view itself: an undeclared name in it may be a table's own name.
    while (brackets.size() > 1) {
      const Bracket inner = std::move(brackets.back());
      brackets.pop_back();
      close(inner, brackets.back());
    }
    add(brackets.front());
    return std::move(compared_);
  }

 private:
  enum class From { kOutside, kBeforeTable, kBehindTable, kInCondition };

  struct Bracket {
    bool is_query = false;
    From from = From::kOutside;
    std::set<std::string> declared;  // names of tables and their aliases
    std::set<std::string> used;      // the names in front of a dot
    std::set<std::string> clauses;
    std::vector<std::set<std::string>> by;
  };

  const SqlToken* ahead(std::size_t count) const {
    return at_ + count < tokens_.size() ? &tokens_[at_ + count] : nullptr;
  }
  bool is_before(std::string_view word) const { return at_ > 0 && tokens_[at_ - 1].is(word); }

  void take(const SqlToken& token, Bracket& bracket) {
    if (token.is("select")) bracket.is_query = true;
    if (token.is("from") || token.is("join")) {
      bracket.from = From::kBeforeTable;
    } else if (is_any(token, kOutsideFrom)) {
      bracket.from = From::kOutside;
    } else if (token.is(",") && (bracket.from == From::kBehindTable || bracket.from == From::kInCondition)) {
      bracket.from = From::kBeforeTable;
    } else if (token.is("on") || token.is("using")) {
      bracket.from = From::kInCondition;
    } else if (bracket.from == From::kBeforeTable && token.is_name()) {
      bracket.declared.insert(folded(token.text));
      if (ahead(1) == nullptr || !ahead(1)->is(".")) bracket.from = From::kBehindTable;
    } else if (bracket.from == From::kBehindTable && token.is_name() && !is_any(token, kNoAlias)) {
      bracket.declared.insert(folded(token.text));
    } else if (token.is_name() && ahead(1) != nullptr && ahead(1)->is(".") &&
               bracket.from != From::kBeforeTable && (ahead(3) == nullptr || !ahead(3)->is("."))) {
      bracket.used.insert(folded(token.text));
    }
    if (token.is("limit") && bracket.is_query) add_clause(bracket, "limit", {});
    if (token.is("over") && is_before(")")) add_window(bracket);
  }

  static void add_clause(Bracket& bracket, const std::string& clause, std::set<std::string> by) {
    bracket.clauses.insert(clause);
    bracket.by.push_back(std::move(by));
  }

  // "over (partition by a, t.b order by …)"; the columns of a window with a name are not looked for.
  void add_window(Bracket& bracket) {
    std::set<std::string> by;
    if (ahead(1) != nullptr && ahead(1)->is("(") && ahead(2) != nullptr && ahead(2)->is("partition")) {
      std::string last;
      int depth = 0;
      bool is_column = true;
      for (std::size_t count = 4; ahead(count) != nullptr; ++count) {
        const SqlToken& token = *ahead(count);
        const bool is_end = depth == 0 && (is_any(token, kEndOfPartition) || token.is(")"));
        if (is_end || (depth == 0 && token.is(","))) {
          if (is_column && !last.empty()) by.insert(last);
          last.clear();
          is_column = true;
          if (is_end) break;
          continue;
        }
        if (token.is("(")) ++depth;
        if (token.is(")")) --depth;
        const bool follows_dot = ahead(count - 1)->is(".");
        if (!token.is(".") && (!token.is_name() || (!last.empty() && !follows_dot))) is_column = false;
        if (token.is_name()) last = folded(token.text);
      }
    }
    add_clause(bracket, "a window function", std::move(by));
  }

  void close(const Bracket& inner, Bracket& outer) {
    std::set<std::string> outside = inner.used;
    for (const std::string& name : inner.declared) outside.erase(name);
    outer.used.insert(outside.begin(), outside.end());
    if (!inner.is_query) {
      // "from (a join b …)", or a part of a condition.
      outer.clauses.insert(inner.clauses.begin(), inner.clauses.end());
      outer.by.insert(outer.by.end(), inner.by.begin(), inner.by.end());
      outer.declared.insert(inner.declared.begin(), inner.declared.end());
    } else if (outside.empty()) {
      add(inner);
    }
    if (outer.from == From::kBeforeTable) outer.from = From::kBehindTable;
  }

  void add(const Bracket& bracket) {
    compared_.clauses.insert(bracket.clauses.begin(), bracket.clauses.end());
    compared_.by.insert(compared_.by.end(), bracket.by.begin(), bracket.by.end());
  }

  static constexpr std::string_view kEndOfPartition[] = {"order", "rows", "range", "groups"};

  std::vector<SqlToken> tokens_;
  std::size_t at_ = 0;
  SqliteComparedRows compared_;
};

}  // namespace

std::vector<SqliteComparedRows> compared_rows(SqliteConnection& connection,
                                              const std::set<std::string>& views) {
  std::vector<SqliteComparedRows> found;
  for (const std::string& view : views) {
    const std::string text = text_of_view(connection, view);
    SqliteComparedRows compared = BracketReader(text).read();
    if (compared.clauses.empty()) continue;
    for (const auto& [table, columns] : read_view(connection, view).tables) compared.tables.insert(table);
    found.push_back(std::move(compared));
  }
  return found;
}

std::set<std::string> clauses_that_compare_rows(SqliteConnection& connection,
                                                const std::set<std::string>& views) {
  std::set<std::string> clauses;
  for (const SqliteComparedRows& compared : compared_rows(connection, views))
    clauses.insert(compared.clauses.begin(), compared.clauses.end());
  return clauses;
}

}  // namespace lockstep
