#include "replicator/source/sqlite/catalog/index_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>

namespace lockstep {
namespace {

struct Token {
  std::string_view text;
  std::size_t begin = 0;

  std::size_t end() const { return begin + text.size(); }
  bool is(std::string_view word) const {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    });
  }
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || (c & 0x80) != 0;
}

// Words, quoted names and texts, and everything else as single characters. Leaves out white space and
// comments.
class Tokens {
 public:
  explicit Tokens(std::string_view sql) : sql_(sql) {}

  std::optional<Token> next() {
    skip_blanks();
    if (at_ >= sql_.size()) return std::nullopt;
    const std::size_t begin = at_;
    const char first = sql_[at_];
    if (first == '\'' || first == '"' || first == '`' || first == '[') {
      skip_quoted(first == '[' ? ']' : first);
    } else if (is_word(first)) {
      while (at_ < sql_.size() && is_word(sql_[at_])) ++at_;
    } else {
      ++at_;
    }
    return Token{sql_.substr(begin, at_ - begin), begin};
  }

 private:
  void skip_blanks() {
    while (at_ < sql_.size()) {
      if (std::isspace(static_cast<unsigned char>(sql_[at_])) != 0) {
        ++at_;
      } else if (sql_.substr(at_).starts_with("--")) {
        skip_past("\n");
      } else if (sql_.substr(at_).starts_with("/*")) {
        skip_past("*/");
      } else {
        return;
      }
    }
  }

  void skip_past(std::string_view end) {
    const std::size_t found = sql_.find(end, at_ + 2);
    at_ = found == std::string_view::npos ? sql_.size() : found + end.size();
  }

  // A doubled quote stands for one, except in [brackets].
  void skip_quoted(char close) {
    for (++at_; at_ < sql_.size(); ++at_) {
      if (sql_[at_] != close) continue;
      if (close != ']' && at_ + 1 < sql_.size() && sql_[at_ + 1] == close) {
        ++at_;
      } else {
        ++at_;
        return;
      }
    }
  }

  std::string_view sql_;
  std::size_t at_ = 0;
};

// One column's tokens, without what says in which order and under which collation it is kept.
std::string expression_of(std::string_view sql, std::vector<Token> tokens) {
  if (!tokens.empty() && (tokens.back().is("asc") || tokens.back().is("desc"))) tokens.pop_back();
  if (tokens.size() > 2 && tokens[tokens.size() - 2].is("collate")) tokens.resize(tokens.size() - 2);
  if (tokens.empty()) return {};
  return std::string(sql.substr(tokens.front().begin, tokens.back().end() - tokens.front().begin));
}

}  // namespace

SqliteIndexText read_index_text(std::string_view create_index) {
  SqliteIndexText index;
  Tokens tokens(create_index);
  std::vector<Token> column;
  int depth = 0;
  bool has_columns = false;
  while (const std::optional<Token> token = tokens.next()) {
    if (has_columns) {
      // Behind the columns comes the word "where" alone.
      index.condition = std::string(create_index.substr(token->end()));
      break;
    }
    if (token->is("(") && ++depth == 1) continue;
    const bool ends = token->is(")") && --depth == 0;
    if (ends || (token->is(",") && depth == 1)) {
      index.columns.push_back(expression_of(create_index, std::move(column)));
      column.clear();
      has_columns = ends;
    } else if (depth > 0) {
      column.push_back(*token);
    }
  }
  return index;
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace lockstep
