#include "replicator/source/sqlite/catalog/index_text.h"

#include <optional>
#include <utility>

#include "replicator/source/sqlite/catalog/sql_tokens.h"

namespace lockstep {
namespace {

// One column's tokens, without its order and its collation.
std::string expression_of(std::string_view sql, std::vector<SqlToken> tokens) {
  if (!tokens.empty() && (tokens.back().is("asc") || tokens.back().is("desc"))) tokens.pop_back();
  if (tokens.size() > 2 && tokens[tokens.size() - 2].is("collate")) tokens.resize(tokens.size() - 2);
  if (tokens.empty()) return {};
  return std::string(sql.substr(tokens.front().begin, tokens.back().end() - tokens.front().begin));
}

}  // namespace

SqliteIndexText read_index_text(std::string_view create_index) {
  SqliteIndexText index;
  SqlTokens tokens(create_index);
  std::vector<SqlToken> column;
  int depth = 0;
  bool has_columns = false;
  while (const std::optional<SqlToken> token = tokens.next()) {
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
