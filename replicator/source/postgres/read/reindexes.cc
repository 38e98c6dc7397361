#include "replicator/source/postgres/read/reindexes.h"

#include <optional>
#include <string_view>

#include "replicator/error.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr std::string_view kReindexTable = "reindex";

std::optional<IndexId> index_of(const pqxx::field& field) {
  return field.is_null() ? std::nullopt : std::optional(IndexId{field.as<int>()});
}

Reindex reindex_of(const pqxx::row& row) {
  Reindex reindex;
  reindex.id = {row[0].as<std::int64_t>()};
  reindex.alias = stored<std::string>(row[1], kReindexTable);
  reindex.state = reindex_state(stored<std::string>(row[2], kReindexTable), reindex.id);
  reindex.mapping = stored<std::string>(row[3], kReindexTable);
  reindex.live = index_of(row[4]);
  reindex.beside = index_of(row[5]);
  reindex.live_name = stored<std::string>(row[6], kReindexTable);
  reindex.beside_name = stored<std::string>(row[7], kReindexTable);
  reindex.wish = reindex_wish(row[8].c_str(), reindex.id);
  reindex.is_forced = stored<bool>(row[9], kReindexTable);
  reindex.was_swapped = row[10].as<bool>();
  reindex.keep = std::chrono::seconds(row[11].as<std::int64_t>());
  reindex.reason = stored<std::string>(row[12], kReindexTable);
  reindex.failure = stored<std::string>(row[13], kReindexTable);
  reindex.view = row[14].c_str();
  reindex.has_own_definition = row[15].as<bool>();
  if (!row[16].is_null()) reindex.max_rate = row[16].as<std::int64_t>();
  return reindex;
}

}  // namespace

std::vector<Reindex> PostgresReindexes::all() {
  std::vector<Reindex> reindexes;
  for (const pqxx::row& row :
       session_.ask("looking for reindexes", postgres_sql("read_reindexes"), pipeline_.id()))
    reindexes.push_back(reindex_of(row));
  return reindexes;
}

bool PostgresReindexes::start(const WantedReindex& wanted) {
  return !session_
              .ask("starting a reindex", postgres_sql("start_reindex"), pipeline_.id(), wanted.alias,
                   session_.storable(wanted.mapping), wanted.keep.count(), wanted.max_rate)
              .empty();
}

bool PostgresReindexes::limit(ReindexId reindex, std::optional<std::int64_t> max_rate) {
  return !session_
              .ask("limiting a reindex",
                   "update {schema}.reindex set max_rate = $2 where id = $1 returning id", reindex.value,
                   max_rate)
              .empty();
}

bool PostgresReindexes::want(ReindexId reindex, ReindexWish wish, Force force) {
  return !session_
              .ask("ordering a step of a reindex",
                   "update {schema}.reindex set wanted = coalesce(nullif($2, ''), wanted), forced = forced "
                   "or $3 "
                   "where id = $1 returning id",
                   reindex.value, std::string(name_of(wish)), force == Force::kYes)
              .empty();
}

bool PostgresReindexes::advance(const Reindex& reindex, Epoch epoch, const ReindexStep& step) {
  const std::string next(step.to ? name_of(*step.to) : "done");
  const NewGeneration& generation = step.generation;
  const std::string outcome =
      session_
          .ask("taking a reindex to the state " + next, postgres_sql("advance_reindex"), reindex.id.value,
               epoch.value, std::string(name_of(reindex.state)), next, generation.live.index,
               generation.live.written_by, generation.beside.index, generation.beside.written_by,
               generation.documents, session_.storable(step.failure), schema_name_)[0][0]
          .c_str();
  if (outcome == "deposed") throw Deposed("another process has become leader of the pipeline");
  if (outcome != "advanced" && outcome != "changed" && outcome != "applying")
    throw unknown_value("advance_reindex()", "answer", outcome);
  return outcome == "advanced";
}

void PostgresReindexes::note(ReindexId reindex, const std::string& reason) {
  session_.ask("noting why a reindex waits",
               "update {schema}.reindex set reason = $2 where id = $1 and reason <> $2", reindex.value,
               session_.storable(reason));
}

std::int64_t PostgresReindexes::refused_beside(const Reindex& reindex) {
  if (!reindex.live || !reindex.beside) return 0;
  return session_
      .ask("counting what only one generation refuses", postgres_sql("count_refused_beside"),
           reindex.beside->value, reindex.live->value)[0][0]
      .as<std::int64_t>();
}

void PostgresReindexes::note_pace(IndexId index, JobKind kind, const Pace& pace) {
  session_.ask("noting how fast a job was", postgres_sql("note_pace"), index.value,
               std::string(name_of(kind)), pace.documents, pace.took.count());
}

std::optional<Pace> PostgresReindexes::pace(IndexId index, JobKind kind) {
  const pqxx::result found = session_.ask(
      "asking how fast a job was",
      "select p.documents, p.milliseconds from {schema}.pace as p where p.index = $1 and p.kind = $2",
      index.value, std::string(name_of(kind)));
  if (found.empty()) return std::nullopt;
  return Pace{found[0][0].as<std::int64_t>(), std::chrono::milliseconds(found[0][1].as<std::int64_t>())};
}

}  // namespace lockstep
