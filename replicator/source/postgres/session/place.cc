#include "replicator/source/postgres/session/place.h"

#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

std::string place_expression(PostgresSession& session) {
  if (session.tells_wal()) return std::string(postgres_sql("place"));
  const std::string schema_text = session.connection().quote(session.schema());
  return fill_placeholders(postgres_sql("place_without_wal"), {{"schema_text", schema_text}});
}

std::string statement_with_place(PostgresSession& session, std::string_view name) {
  const std::string place = place_expression(session);
  return fill_placeholders(postgres_sql(name), {{"place", place}, {"schema", "{schema}"}});
}

}  // namespace lockstep
