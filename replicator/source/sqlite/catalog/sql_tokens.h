// The words of an SQL text, for facts that SQLite shows only in a statement's text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

/// A word, a quoted name or text, or any other character.
struct SqlToken {
  std::string_view text;
  std::size_t begin = 0;  ///< in the SQL text

  std::size_t end() const { return begin + text.size(); }
  /// Whether it is this word, in upper or lower case.
  bool is(std::string_view word) const;
  /// Whether it may be a name: a word that begins with no digit, or a quoted name.
  bool is_name() const;
};

/// Whether it is one of these words.
template <typename Words>
bool is_any(const SqlToken& token, const Words& words) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return token.is(word); });
}

/// The words between two selects.
inline constexpr std::array<std::string_view, 3> kCompoundOperators = {"union", "intersect", "except"};

/// Reads from the beginning; leaves out white space and comments. REQUIRES: `sql` outlives it and its tokens.
class SqlTokens {
 public:
  explicit SqlTokens(std::string_view sql) : sql_(sql) {}

  std::optional<SqlToken> next();

 private:
  void skip_blanks();
  void skip_past(std::string_view end);
  void skip_quoted(char close);

  std::string_view sql_;
  std::size_t at_ = 0;
};

/// A name without its quotes, if it has any: "a""b" is a"b. Texts in single quotes are names where only a
/// name can be.
std::string unquoted_name(std::string_view name);

}  // namespace lockstep
