#include "replicator/source/postgres/catalog/sql_text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

// Keywords of statements that read or change tables, apart from "from".
constexpr std::string_view kReading[] = {"table", "insert", "update", "delete", "merge"};

// extract(year from d), trim(both from t): inside of their brackets "from" names no table.
constexpr std::string_view kTakingFrom[] = {"extract", "substring", "trim", "overlay", "position"};

template <typename Names>
bool is_one_of(const Names& names, std::string_view word) {
  return std::find(std::begin(names), std::end(names), word) != std::end(names);
}

bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}
bool is_in_word(char c) {
  return begins_word(c) || (c >= '0' && c <= '9') || c == '$';
}

class CallReader {
 public:
  explicit CallReader(std::string_view text) : text_(text) {}

  std::optional<std::set<std::string>> calls() {
    while (at_ < text_.size()) {
      if (!step()) return std::nullopt;
    }
    return std::move(calls_);
  }

 private:
  struct Bracket {
    std::string name;  // in front of it; empty: none
    bool has_select = false;
  };

  char next(std::size_t ahead = 1) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  // False: not understood, or it reads.
  bool step() {
    const char c = text_[at_];
    if (c == '-' && next() == '-') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && next() == '*') {
      return skip_to("*/", 2);
    } else if (c == '\'') {
      word_before_.clear();
      return skip_string();
    } else if (c == '"' || (c == '$' && !(next() >= '0' && next() <= '9'))) {
      return false;  // a quoted name, a dollar-quoted text
    } else if (begins_word(c)) {
      return take_word();
    } else {
      take_sign(c);
      ++at_;
    }
    return true;
  }

  bool skip_to(std::string_view end, std::size_t behind) {
    const std::size_t found = text_.find(end, at_ + behind);
    if (found == std::string_view::npos) return false;
    at_ = found + end.size();
    return true;
  }

  // A backslash may escape the quote, or not: that depends on the text's kind and on a setting.
  bool skip_string() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && next() == '\'') return false;
      if (text_[at_] != '\'') continue;
      ++at_;
      if (at_ < text_.size() && text_[at_] == '\'') continue;
      return true;
    }
    return false;
  }

  bool take_word() {
    std::string word;
    for (; at_ < text_.size() && is_in_word(text_[at_]); ++at_)
      word += static_cast<char>(text_[at_] >= 'A' && text_[at_] <= 'Z' ? text_[at_] + 32 : text_[at_]);
    if (is_one_of(kReading, word)) return false;
    if (word == "select" && !brackets_.empty()) brackets_.back().has_select = true;
    if (word == "from" && !may_be_argument()) return false;
    two_before_ = std::exchange(word_before_, word);
    return true;
  }

  bool may_be_argument() const {
    if (word_before_ == "distinct" && (two_before_ == "is" || two_before_ == "not")) return true;
    return !brackets_.empty() && !brackets_.back().has_select &&
           is_one_of(kTakingFrom, brackets_.back().name);
  }

  void take_sign(char c) {
    if (c == '(') {
      if (!word_before_.empty()) calls_.insert(word_before_);
      brackets_.push_back({word_before_});
    } else if (c == ')' && !brackets_.empty()) {
      brackets_.pop_back();
    }
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') word_before_.clear();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_before_;  // empty: another word came before
  std::string two_before_;
  std::vector<Bracket> brackets_;
  std::set<std::string> calls_;
};

}  // namespace

std::optional<std::set<std::string>> calls_of_text_without_reads(std::string_view text) {
  return CallReader(text).calls();
}

}  // namespace lockstep
