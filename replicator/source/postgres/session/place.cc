#include "replicator/source/postgres/session/place.h"

#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

bool is_same(const PostgresPlace& some, const PostgresPlace& other) {
  if (some.name == other.name) return true;
  const bool both_named = some.name != some.unnamed && other.name != other.unnamed;
  return !both_named && some.unnamed == other.unnamed;
}

std::string place_expression(PostgresSession& session) {
  return session.tells_wal() ? std::string(postgres_sql("place")) : unnamed_place_expression(session);
}

std::string unnamed_place_expression(PostgresSession& session) {
  const std::string schema_text = session.connection().quote(session.schema());
  return fill_placeholders(postgres_sql("place_without_wal"), {{"schema_text", schema_text}});
}

std::string statement_with_place(PostgresSession& session, std::string_view name,
                                 std::map<std::string_view, std::string_view> values) {
  const std::string place = place_expression(session);
  const std::string unnamed_place = unnamed_place_expression(session);
  values.insert({{"place", place}, {"unnamed_place", unnamed_place}, {"schema", "{schema}"}});
  return fill_placeholders(postgres_sql(name), values);
}

}  // namespace lockstep
