#include "replicator/source/postgres/session/place.h"

#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

std::string statement_with_place(PostgresSession& session, std::string_view name) {
  const std::string schema_text = session.connection().quote(session.schema());
  const std::string place = session.tells_wal() ? std::string(postgres_sql("place"))
                                                : fill_placeholders(postgres_sql("place_without_wal"),
                                                                    {{"schema_text", schema_text}});
  return fill_placeholders(postgres_sql(name), {{"place", place}, {"schema", "{schema}"}});
}

}  // namespace lockstep
