#include "replicator/source/sqlite/catalog/join_columns.h"

#include <optional>

#include "replicator/source/sqlite/catalog/sql_tokens.h"

namespace lockstep {

SqliteJoinColumns read_join_columns(std::string_view create_view) {
  SqliteJoinColumns joins;
  SqlTokens tokens(create_view);
  while (const std::optional<SqlToken> token = tokens.next()) {
    if (token->is("natural")) joins.is_natural = true;
    if (!token->is("using")) continue;
    tokens.next();  // the bracket
    for (std::optional<SqlToken> name = tokens.next(); name && !name->is(")"); name = tokens.next()) {
      if (!name->is(",")) joins.columns.push_back(unquoted_name(name->text));
    }
  }
  return joins;
}

}  // namespace lockstep
