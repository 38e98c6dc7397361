#include "replicator/source/sqlite/catalog/compared_rows.h"

#include <optional>

#include "replicator/source/sqlite/catalog/sql_tokens.h"
#include "replicator/source/sqlite/catalog/view_joins.h"

namespace lockstep {

std::set<std::string> clauses_that_compare_rows(SqliteConnection& connection,
                                                const std::set<std::string>& views) {
  std::set<std::string> clauses;
  for (const std::string& view : views) {
    const std::string text = text_of_view(connection, view);
    SqlTokens tokens(text);
    int depth = 0;
    std::optional<SqlToken> before;
    for (std::optional<SqlToken> token = tokens.next(); token; token = tokens.next()) {
      if (token->is("(")) ++depth;
      if (token->is(")")) --depth;
      if (token->is("over") && before && before->is(")")) clauses.insert("a window function");
      if (token->is("limit") && depth == 0) clauses.insert("limit");
      before = token;
    }
  }
  return clauses;
}

}  // namespace lockstep
