#include "replicator/draft/select_statement.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "replicator/error.h"

namespace lockstep {
namespace {

struct Token {
  enum class Kind { kWord, kQuotedName, kText, kParameter, kOther };
  Kind kind = Kind::kOther;
  std::string text;  ///< as written; a word in small letters
  std::size_t begin = 0;
  std::size_t end = 0;
  int depth = 0;  ///< of parentheses around it; of a parenthesis itself, outside of it

  bool is(std::string_view word) const { return kind != Kind::kQuotedName && text == word; }
};

using Tokens = std::vector<Token>;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

class Lexer {
 public:
  explicit Lexer(const std::string& sql) : sql_(sql) {}

  Tokens tokens() {
    while (at_ < sql_.size()) {
      if (std::isspace(static_cast<unsigned char>(sql_[at_])) != 0) {
        ++at_;
      } else if (sql_.compare(at_, 2, "--") == 0) {
        at_ = std::min(sql_.find('\n', at_), sql_.size());
      } else if (sql_.compare(at_, 2, "/*") == 0) {
        at_ = behind("*/", at_ + 2);
      } else {
        next();
      }
    }
    if (depth_ != 0) throw UsageError("the statement has a parenthesis without its other half");
    return std::move(tokens_);
  }

 private:
  std::size_t behind(std::string_view end, std::size_t from) const {
    const std::size_t found = sql_.find(end, from);
    if (found == std::string::npos)
      throw UsageError("the statement has no " + std::string(end) + " for the part that begins at \"" +
                       sql_.substr(at_, 20) + "\"");
    return found + end.size();
  }

  void next() {
    const char c = sql_[at_];
    if (c == '\'') return add(Token::Kind::kText, quoted('\''));
    if (c == '"') return add(Token::Kind::kQuotedName, quoted('"'));
    if (c == '$' && at_ + 1 < sql_.size() && !std::isdigit(static_cast<unsigned char>(sql_[at_ + 1]))) {
      const std::size_t tag_end = sql_.find('$', at_ + 1);
      if (tag_end != std::string::npos)
        return add(Token::Kind::kText, behind(sql_.substr(at_, tag_end + 1 - at_), tag_end + 1));
    }
    if (is_word(c)) return add(Token::Kind::kWord, end_of_word(at_));
    if (sql_.compare(at_, 2, "::") == 0) return add(Token::Kind::kOther, at_ + 2);
    if (c == ':' && at_ + 1 < sql_.size() && is_word(sql_[at_ + 1]))
      return add(Token::Kind::kParameter, end_of_word(at_ + 1));
    for (const char* const two : {"<=", ">=", "<>", "!="}) {
      if (sql_.compare(at_, 2, two) == 0) return add(Token::Kind::kOther, at_ + 2);
    }
    if (c == ')') --depth_;
    if (depth_ < 0) throw UsageError("the statement has a parenthesis without its other half");
    add(Token::Kind::kOther, at_ + 1);
    if (c == '(') ++depth_;
  }

  std::size_t end_of_word(std::size_t from) const {
    while (from < sql_.size() && is_word(sql_[from])) ++from;
    return from;
  }

  // A doubled quote is one inside of it.
  std::size_t quoted(char quote) const {
    std::size_t end = behind(std::string(1, quote), at_ + 1);
    while (end < sql_.size() && sql_[end] == quote) end = behind(std::string(1, quote), end + 1);
    return end;
  }

  void add(Token::Kind kind, std::size_t end) {
    std::string text = sql_.substr(at_, end - at_);
    if (kind == Token::Kind::kWord) text = lower(std::move(text));
    tokens_.push_back({kind, std::move(text), at_, end, depth_});
    at_ = end;
  }

  const std::string& sql_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Tokens tokens_;
};

/// Tokens from `begin` to before `end`.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool empty() const { return begin >= end; }
};

bool is_one_of(const Token& token, std::initializer_list<std::string_view> words) {
  return token.kind == Token::Kind::kWord && std::find(words.begin(), words.end(), token.text) != words.end();
}

class SelectReader {
 public:
  SelectReader(const std::string& sql, const std::string& parameter)
      : sql_(sql), tokens_(Lexer(sql).tokens()), parameter_(":" + parameter) {}

  SelectStatement read() {
    while (!tokens_.empty() && tokens_.back().is(";")) tokens_.pop_back();
    const std::size_t select = find(0, {"select"});
    if (select == tokens_.size()) throw UsageError("the statement is not a select");
    if (find(select, {"union", "intersect", "except"}) != tokens_.size())
      throw UsageError(
          "the statement joins several selects (union); write it as a view by hand, and use --view");
    std::size_t first = select + 1;
    if (first < tokens_.size() && tokens_[first].is("distinct")) ++first;
    if (first < tokens_.size() && tokens_[first].is("on"))
      throw UsageError("the statement has distinct on; write it as a view by hand, and use --view");
    std::size_t from = find(first, {"from"});
    while (from < tokens_.size() && tokens_[from - 1].is("distinct"))
      from = find(from + 1, {"from"});  // is distinct from
    if (from == tokens_.size()) throw UsageError("the statement reads no table");
    SelectStatement statement;
    statement.before = text({0, first});
    statement.items = items({first, from});
    statement.after =
        text({from, find(from, {"where"})}) + conditions(from, statement.taken_out) + rest(from);
    require_no_parameter(statement);
    return statement;
  }

 private:
  // The first of these words behind `from` that stands in no parentheses.
  std::size_t find(std::size_t from, std::initializer_list<std::string_view> words) const {
    while (from < tokens_.size() && !(tokens_[from].depth == 0 && is_one_of(tokens_[from], words))) ++from;
    return from;
  }

  std::string text(const Range& range) const {
    if (range.empty()) return "";
    return sql_.substr(tokens_[range.begin].begin, tokens_[range.end - 1].end - tokens_[range.begin].begin);
  }

  std::vector<std::string> items(const Range& list) const {
    std::vector<std::string> items;
    std::size_t begin = list.begin;
    for (std::size_t i = list.begin; i <= list.end; ++i) {
      const bool ends = i == list.end || (tokens_[i].depth == 0 && tokens_[i].is(","));
      if (!ends) continue;
      if (begin == i) throw UsageError("the statement's list of columns has an empty place");
      items.push_back(text({begin, i}));
      begin = i + 1;
    }
    return items;
  }

  Range where(std::size_t from) const {
    const std::size_t where = find(from, {"where"});
    if (where == tokens_.size()) return {where, where};
    return {where + 1,
            find(where + 1, {"group", "having", "window", "order", "limit", "offset", "fetch", "for"})};
  }

  // " where …", without the conditions on the last time; empty: nothing is left.
  std::string conditions(std::size_t from, std::vector<std::string>& taken_out) const {
    const Range all = where(from);
    std::vector<Range> kept;
    std::vector<std::string> tracked;  // expressions that are compared with the parameter
    for (const Range& condition : conjuncts(all)) {
      if (!has_parameter(condition)) {
        kept.push_back(condition);
        continue;
      }
      taken_out.push_back(text(condition));
      const std::size_t compared = comparison(condition);
      if (compared != condition.end) tracked.push_back(lower(text({condition.begin, compared})));
    }
    std::string text_kept;
    for (const Range& condition : kept) {
      const std::string written = text(condition);
      if (is_until_now(condition, tracked)) {
        taken_out.push_back(written);
      } else {
        text_kept += (text_kept.empty() ? "\nwhere " : "\n  and ") + written;
      }
    }
    return text_kept;
  }

  // The conditions that `and` joins, also inside of parentheses around nothing else.
  std::vector<Range> conjuncts(Range range) const {
    while (range.end - range.begin > 2 && tokens_[range.begin].is("(") && has_parameter(range) &&
           closes(range.begin) == range.end - 1) {
      ++range.begin;
      --range.end;
    }
    if (range.empty()) return {};
    const int depth = tokens_[range.begin].depth;
    std::vector<Range> parts;
    std::size_t begin = range.begin;
    bool is_between = false;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (tokens_[i].depth != depth) continue;
      if (tokens_[i].is("or")) {
        if (has_parameter(range)) refuse();
        return {range};
      }
      if (tokens_[i].is("between")) is_between = true;
      if (!tokens_[i].is("and") || std::exchange(is_between, false)) continue;
      parts.push_back({begin, i});
      begin = i + 1;
    }
    parts.push_back({begin, range.end});
    if (parts.size() == 1) return parts;
    std::vector<Range> all;
    for (const Range& part : parts) {
      for (const Range& inner : conjuncts(part)) all.push_back(inner);
    }
    return all;
  }

  std::size_t closes(std::size_t open) const {
    std::size_t i = open + 1;
    while (i < tokens_.size() && !(tokens_[i].is(")") && tokens_[i].depth == tokens_[open].depth)) ++i;
    return i;
  }

  bool has_parameter(const Range& range) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (tokens_[i].kind == Token::Kind::kParameter && tokens_[i].text == parameter_) return true;
    }
    return false;
  }

  // The place of its comparison; the range's end: it has none, or several.
  std::size_t comparison(const Range& range) const {
    std::size_t found = range.end;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const std::string& text = tokens_[i].text;
      if (text != "<" && text != "<=" && text != ">" && text != ">=") continue;
      if (found != range.end) return range.end;
      found = i;
    }
    return found;
  }

  bool is_until_now(const Range& condition, const std::vector<std::string>& tracked) const {
    const std::size_t compared = comparison(condition);
    if (compared == condition.end) return false;
    const std::string left = lower(text({condition.begin, compared}));
    const std::string right = lower(text({compared + 1, condition.end}));
    static constexpr std::array<std::string_view, 3> kNow = {"now()", "current_timestamp", "localtimestamp"};
    return std::find(tracked.begin(), tracked.end(), left) != tracked.end() &&
           std::find(kNow.begin(), kNow.end(), right) != kNow.end();
  }

  // Behind the conditions, without an order that is not about a limit.
  std::string rest(std::size_t from) const {
    const std::size_t behind_from =
        find(from, {"where", "group", "having", "window", "order", "limit", "offset", "fetch", "for"});
    const Range conditions = where(from);
    const std::size_t begin = conditions.empty() ? behind_from : conditions.end;
    const std::size_t order = find(begin, {"order"});
    const bool is_limited = find(begin, {"limit", "offset", "fetch"}) != tokens_.size();
    const std::string rest = text({begin, is_limited ? tokens_.size() : order});
    return rest.empty() ? "" : "\n" + rest;
  }

  [[noreturn]] void refuse() const {
    throw UsageError(
        "the statement has " + parameter_ +
        " elsewhere than in a condition that `and` joins to the others of its outermost where; write it "
        "as a view without that condition by hand, and use --view");
  }

  void require_no_parameter(const SelectStatement& statement) const {
    std::string all = statement.before + " " + statement.after;
    for (const std::string& item : statement.items) all += " " + item;
    for (const Token& token : Lexer(all).tokens()) {
      if (token.kind != Token::Kind::kParameter) continue;
      if (token.text == parameter_) refuse();
      throw UsageError("the statement has the parameter " + token.text + "; write its value instead");
    }
  }

  const std::string& sql_;
  Tokens tokens_;
  const std::string parameter_;
};

std::string name_of(const Token& token) {
  if (token.kind != Token::Kind::kQuotedName) return token.text;
  std::string name = token.text.substr(1, token.text.size() - 2);
  for (std::size_t at = 0; (at = name.find("\"\"", at)) != std::string::npos; ++at) name.erase(at, 1);
  return lower(name);
}

bool is_name(const Token& token) {
  return token.kind == Token::Kind::kWord || token.kind == Token::Kind::kQuotedName;
}

}  // namespace

std::optional<std::string> SelectStatement::expression_of(const std::string& column) const {
  const std::string wanted = lower(column);
  bool has_star = false;
  for (const std::string& item : items) {
    const Tokens tokens = Lexer(item).tokens();
    const Token& last = tokens.back();
    has_star = has_star || last.is("*");
    if (!is_name(last) || name_of(last) != wanted) continue;
    if (tokens.size() == 1) return item;
    const Token& previous = tokens[tokens.size() - 2];
    if (previous.is(".")) return item;
    if (previous.kind == Token::Kind::kOther && !previous.is(")")) continue;  // "a + b" has no name
    const std::size_t end = previous.is("as") ? tokens[tokens.size() - 3].end : previous.end;
    return item.substr(0, end);
  }
  if (has_star) return column;
  return std::nullopt;
}

std::vector<std::string> SelectStatement::capital_names() const {
  std::vector<std::string> names;
  for (const std::string& item : items) {
    const Token last = Lexer(item).tokens().back();
    if (last.kind != Token::Kind::kQuotedName) continue;
    const std::string name = last.text.substr(1, last.text.size() - 2);
    if (lower(name) != name) names.push_back(name);
  }
  return names;
}

SelectStatement read_select(const std::string& sql, const std::string& parameter) {
  return SelectReader(sql, parameter).read();
}

}  // namespace lockstep
