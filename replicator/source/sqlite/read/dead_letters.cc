#include "replicator/source/sqlite/read/dead_letters.h"

#include <set>
#include <tuple>

#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {

std::vector<std::size_t> find_new_dead_letters(SqliteConnection& connection,
                                               const std::vector<DeadLetter>& refused) {
  std::vector<std::size_t> positions;
  std::set<std::tuple<IndexId, DocumentId, std::string>> seen;
  for (std::size_t i = 0; i < refused.size(); ++i) {
    const DeadLetter& letter = refused[i];
    if (!seen.emplace(letter.index, letter.id, letter.routing).second) continue;
    SqliteStatement known(
        connection, "looking for new dead letters",
        "select 1 from {schema}_dead_letter where index_id = ?1 and id = ?2 and routing = ?3",
        letter.index.value, letter.id.text, letter.routing);
    if (!known.step()) positions.push_back(i);
  }
  return positions;
}

void save_dead_letters(SqliteConnection& connection, const Acknowledged& acknowledged) {
  for (const DeadLetter& letter : acknowledged.refused) {
    SqliteStatement(connection, "saving a dead letter",
                    "insert into {schema}_dead_letter "
                    "(index_id, id, routing, version, status, error_type, reason) "
                    "values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict (index_id, id, routing) do update "
                    "set version = excluded.version, status = excluded.status, "
                    "error_type = excluded.error_type, reason = excluded.reason, "
                    "last_at = excluded.last_at, tries = tries + 1",
                    letter.index.value, letter.id.text, letter.routing, letter.version.value(), letter.status,
                    letter.error_type, letter.reason)
        .run();
  }
  // After the refusals: a document that was refused and then applied is in both lists.
  for (const AcknowledgedWrite& write : acknowledged.no_longer_refused) {
    SqliteStatement(connection, "clearing dead letters",
                    "delete from {schema}_dead_letter where index_id = ?1 and id = ?2 and version <= ?3",
                    write.index.value, write.id.text, write.version.value())
        .run();
  }
}

}  // namespace lockstep
