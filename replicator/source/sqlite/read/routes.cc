#include "replicator/source/sqlite/read/routes.h"

#include "replicator/source/sqlite/read/json_text.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {

void SqliteRoutes::load(const DocumentIds& ids) {
  if (ids.empty()) return;
  SqliteStatement rows(connection_, "loading routings",
                       "select id, routing from {schema}_route "
                       "where index_id = ?1 and id in (select lockstep_value(value) from json_each(?2))",
                       fresh_.index.value, json_array_of_texts(ids));
  while (rows.step()) known_.add(rows[0].text(), rows[1].text());
}

void SqliteRoutes::fill(RenderedDocument& document) {
  if (!known_.fill(document)) return;
  fresh_.ids.push_back({std::string(document.id)});
  fresh_.routings.emplace_back(document.routing);
}

void save_routes(SqliteConnection& connection, const SqliteNewRoutes& routes) {
  SqliteStatement insert(
      connection, "remembering routings",
      "insert into {schema}_route (index_id, id, routing, version) values (?1, ?2, ?3, ?4) "
      "on conflict (index_id, id, routing) do update set version = excluded.version",
      routes.index.value);
  insert.bind(4, routes.version.value());
  for (std::size_t i = 0; i < routes.ids.size(); ++i) {
    insert.reset();
    insert.bind(2, routes.ids[i].text);
    insert.bind(3, routes.routings[i]);
    insert.run();
  }
}

void forget_routes(SqliteConnection& connection, const std::vector<AcknowledgedWrite>& deleted) {
  for (const AcknowledgedWrite& write : deleted) {
    SqliteStatement(connection, "forgetting routings",
                    "delete from {schema}_route "
                    "where index_id = ?1 and id = ?2 and routing = ?3 and version <= ?4",
                    write.index.value, write.id.text, write.routing, write.version.value())
        .run();
  }
}

void add_found_routes(SqliteConnection& connection, IndexId index, const std::vector<FoundDocument>& found) {
  for (const FoundDocument& document : found) {
    SqliteStatement(connection, "remembering routings",
                    "insert or ignore into {schema}_route (index_id, id, routing, version) "
                    "values (?1, ?2, ?3, 0)",
                    index.value, document.id.text, document.routing)
        .run();
  }
}

}  // namespace lockstep
