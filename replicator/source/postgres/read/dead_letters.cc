#include "replicator/source/postgres/read/dead_letters.h"

#include <string>

#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

std::vector<std::size_t> find_new_dead_letters(PostgresTransaction& transaction,
                                               const std::vector<DeadLetter>& refused) {
  std::vector<IndexId> indices;
  DocumentIds ids;
  std::vector<std::string> routings;
  for (const DeadLetter& letter : refused) {
    indices.push_back(letter.index);
    ids.push_back(letter.id);
    routings.push_back(letter.routing);
  }
  std::vector<std::size_t> positions;
  for (const pqxx::row& row :
       transaction.run(Doing("looking for new dead letters"), postgres_sql("find_new_dead_letters"),
                       ids_literal(indices), ids_literal(ids), array_literal(routings))) {
    positions.push_back(row[0].as<std::size_t>());
  }
  return positions;
}

void save_dead_letters(PostgresTransaction& transaction, const Acknowledged& acknowledged) {
  const PostgresSession& session = transaction.session();
  for (const DeadLetter& letter : acknowledged.refused) {
    transaction.run(Doing("saving a dead letter"), postgres_sql("save_dead_letter"), letter.index.value,
                    letter.id.text, letter.routing, letter.version.value(), letter.status,
                    session.storable(letter.error_type), session.storable(letter.reason));
  }
  // After the refusals: a document that was refused and then applied is in both lists.
  if (acknowledged.no_longer_refused.empty()) return;
  std::vector<IndexId> indices;
  DocumentIds ids;
  std::vector<std::string> versions;
  for (const AcknowledgedWrite& write : acknowledged.no_longer_refused) {
    indices.push_back(write.index);
    ids.push_back(write.id);
    versions.push_back(std::to_string(write.version.value()));
  }
  transaction.run(Doing("clearing dead letters"), postgres_sql("clear_dead_letters"), ids_literal(indices),
                  ids_literal(ids), array_literal(versions));
}

}  // namespace lockstep
