#include "replicator/source/postgres/read/routes.h"

#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

void PostgresRoutes::load(const DocumentIds& ids) {
  if (ids.empty()) return;
  const std::string statement = transaction_.session().sql(
      "select id, routing from {schema}.route where index = $1 and id = any($2::text[])");
  for (const pqxx::row& row :
       transaction_.run_once(Doing("loading routings"), statement, index_.id.value, ids_literal(ids))) {
    known_.add(row[0].c_str(), row[1].c_str());
  }
}

void PostgresRoutes::fill(RenderedDocument& document) {
  if (!known_.fill(document)) return;
  ids_.emplace_back(document.id);
  routings_.emplace_back(document.routing);
}

void PostgresRoutes::save() {
  if (ids_.empty()) return;
  transaction_.note_write();
  const std::string statement = transaction_.session().sql(postgres_sql("save_routes"));
  transaction_.run_once(Doing("saving routings"), statement, index_.id.value, version_.value(),
                        array_literal(ids_), array_literal(routings_));
}

void forget_routes(PostgresTransaction& transaction, const std::vector<AcknowledgedWrite>& deleted) {
  for (const AcknowledgedWrite& write : deleted) {
    transaction.run(
        Doing("forgetting a routing"),
        "delete from {schema}.route where index = $1 and id = $2 and routing = $3 and version <= $4",
        write.index.value, write.id.text, write.routing, write.version.value());
  }
}

}  // namespace lockstep
