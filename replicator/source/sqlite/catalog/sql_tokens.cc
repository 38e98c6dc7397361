#include "replicator/source/sqlite/catalog/sql_tokens.h"

#include <algorithm>
#include <cctype>

namespace lockstep {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || (c & 0x80) != 0;
}

}  // namespace

bool SqlToken::is(std::string_view word) const {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  });
}

bool SqlToken::is_name() const {
  const char first = text.front();
  if (first == '"' || first == '`' || first == '[') return true;
  return is_word(first) && first != '$' && std::isdigit(static_cast<unsigned char>(first)) == 0;
}

std::optional<SqlToken> SqlTokens::next() {
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
  return SqlToken{sql_.substr(begin, at_ - begin), begin};
}

void SqlTokens::skip_blanks() {
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

void SqlTokens::skip_past(std::string_view end) {
  const std::size_t found = sql_.find(end, at_ + 2);
  at_ = found == std::string_view::npos ? sql_.size() : found + end.size();
}

// A doubled quote means one, except in [brackets].
void SqlTokens::skip_quoted(char close) {
  for (++at_; at_ < sql_.size(); ++at_) {
    if (sql_[at_] != close) continue;
    ++at_;
    if (close == ']' || at_ >= sql_.size() || sql_[at_] != close) return;
  }
}

std::string unquoted_name(std::string_view name) {
  if (name.size() < 2) return std::string(name);
  const char open = name.front();
  const char close = open == '[' ? ']' : open;
  if ((open != '"' && open != '`' && open != '[' && open != '\'') || name.back() != close)
    return std::string(name);
  std::string bare;
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    bare += name[i];
    if (name[i] == close && i + 2 < name.size() && name[i + 1] == close) ++i;
  }
  return bare;
}

}  // namespace lockstep
