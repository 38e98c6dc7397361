#include "replicator/source/postgres/read/pipeline.h"

#include "replicator/error.h"
#include "replicator/source/postgres/session/migrations.h"

namespace lockstep {

pqxx::row require_applied(PostgresSession& session, const std::string& schema_name,
                          const std::string& pipeline, std::string_view statement) {
  const UsageError not_applied("pipeline \"" + pipeline +
                               "\" has not been applied to this source; run `lockstep apply` first");
  const pqxx::result exists = session.ask(
      "looking for lockstep's schema", "select to_regclass($1) is not null", session.schema() + ".pipeline");
  if (!exists[0][0].as<bool>()) throw not_applied;
  translating_postgres_errors("looking at lockstep's schema", [&] {
    pqxx::nontransaction direct(session.connection());
    require_migrated(direct, session, schema_name);
  });
  const pqxx::result found = session.ask("loading the pipeline", statement, pipeline);
  if (found.empty()) throw not_applied;
  return found[0];
}

}  // namespace lockstep
