#include "replicator/source/postgres/read/routes.h"

#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

void PostgresRoutes::load(const Values& ids) {
  if (!version_ || ids.empty()) return;
  const std::string statement =
      session_.sql("select id, routing from {schema}.route where index = $1 and id = any($2::text[])");
  for (const pqxx::row& row : transaction_.exec_params(statement, index_.id, array_literal(ids))) {
    known_.emplace(row[0].c_str(), row[1].c_str());
  }
}

void PostgresRoutes::fill(RenderedDocument& document) {
  if (!version_) return;
  document.stale_routings.clear();
  const auto [first, last] = known_.equal_range(std::string(document.id));
  for (auto route = first; route != last; ++route) {
    if (!document.json || route->second != document.routing) document.stale_routings.push_back(route->second);
  }
  if (document.json) {
    ids_.emplace_back(document.id);
    routings_.emplace_back(document.routing);
  }
}

void PostgresRoutes::save() {
  if (ids_.empty()) return;
  transaction_.exec_params(session_.sql(postgres_sql("save_routes")), index_.id, version_->value(),
                           array_literal(ids_), array_literal(routings_));
}

}  // namespace lockstep
