#include "replicator/source/sqlite/read/reindexes.h"

#include <algorithm>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/sqlite/catalog/index_text.h"
#include "replicator/source/sqlite/read/lead.h"
#include "replicator/source/sqlite/session/sql_file.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

using enum ReindexState;

constexpr std::string_view kReindexTable = "reindex";
constexpr const char* kStarting = "starting a reindex";
constexpr const char* kAdvancing = "taking a reindex from state to state";

std::optional<IndexId> index_of(const SqliteColumn& column) {
  return column.is_null() ? std::nullopt : std::optional(IndexId{static_cast<int>(column.integer())});
}

Reindex reindex_of(const SqliteStatement& row) {
  Reindex reindex;
  reindex.id = {row[0].integer()};
  reindex.alias = stored_text(row[1], kReindexTable);
  reindex.state = reindex_state(stored_text(row[2], kReindexTable), reindex.id);
  reindex.mapping = stored_text(row[3], kReindexTable);
  reindex.live = index_of(row[4]);
  reindex.beside = index_of(row[5]);
  reindex.live_name = stored_text(row[6], kReindexTable);
  reindex.beside_name = stored_text(row[7], kReindexTable);
  reindex.wish = reindex_wish(stored_text(row[8], kReindexTable), reindex.id);
  reindex.is_forced = stored_integer(row[9], kReindexTable) != 0;
  reindex.was_swapped = row[10].integer() != 0;
  reindex.keep = std::chrono::seconds(row[11].integer());
  reindex.reason = stored_text(row[12], kReindexTable);
  reindex.failure = stored_text(row[13], kReindexTable);
  reindex.view = row[14].text();
  reindex.has_own_definition = row[15].integer() != 0;
  reindex.max_rate = row[16].optional_integer();
  return reindex;
}

}  // namespace

bool add_reindex(SqliteConnection& connection, int pipeline, const WantedReindex& wanted) {
  SqliteStatement(connection, kStarting,
                  "delete from {schema}_reindex where pipeline = ?1 and alias = ?2 and state = 'failed'",
                  pipeline, wanted.alias)
      .run();
  SqliteStatement taken(connection, kStarting,
                        "select 1 from {schema}_reindex where pipeline = ?1 and alias = ?2", pipeline,
                        wanted.alias);
  if (taken.step()) return false;
  connection.execute(kStarting, "update {schema}_counter set reindex = reindex + 1");
  SqliteStatement(connection, kStarting, sqlite_sql("start_reindex"), pipeline, wanted.alias, wanted.mapping,
                  static_cast<std::int64_t>(wanted.keep.count()), wanted.max_rate)
      .run();
  return connection.changes() > 0;
}

std::vector<Reindex> SqliteReindexes::all() {
  std::vector<Reindex> reindexes;
  SqliteStatement row(connection_, "looking for reindexes", sqlite_sql("read_reindexes"), pipeline_.id());
  while (row.step()) reindexes.push_back(reindex_of(row));
  return reindexes;
}

bool SqliteReindexes::start(const WantedReindex& wanted) {
  SqliteWrite write(connection_, kStarting);
  if (!add_reindex(connection_, pipeline_.id(), wanted)) return false;
  write.commit(kStarting);
  connection_.sync();
  return true;
}

bool SqliteReindexes::limit(ReindexId reindex, std::optional<std::int64_t> max_rate) {
  constexpr const char* kDoing = "limiting a reindex";
  SqliteWrite write(connection_, kDoing);
  SqliteStatement(connection_, kDoing, "update {schema}_reindex set max_rate = ?2 where id = ?1",
                  reindex.value, max_rate)
      .run();
  const bool is_there = connection_.changes() > 0;
  write.commit(kDoing);
  connection_.sync();
  return is_there;
}

bool SqliteReindexes::want(ReindexId reindex, ReindexWish wish, Force force) {
  constexpr const char* kDoing = "ordering a step of a reindex";
  SqliteWrite write(connection_, kDoing);
  SqliteStatement(connection_, kDoing,
                  "update {schema}_reindex set wanted = coalesce(nullif(?2, ''), wanted), "
                  "forced = max(forced, ?3) where id = ?1",
                  reindex.value, name_of(wish), force == Force::kYes ? 1 : 0)
      .run();
  const bool is_there = connection_.changes() > 0;
  write.commit(kDoing);
  connection_.sync();
  return is_there;
}

bool SqliteReindexes::advance(const Reindex& reindex, Epoch epoch, const ReindexStep& step) {
  SqliteWrite write(connection_, kAdvancing);
  const std::vector<Reindex> stored = all();
  const auto known =
      std::find_if(stored.begin(), stored.end(), [&](const Reindex& each) { return each.id == reindex.id; });
  if (known == stored.end() || known->state != reindex.state) return false;
  if (stored_epoch(connection_, pipeline_.id()) != epoch)
    throw Deposed("another process has become leader of the pipeline");
  require_way(known->state, step.to);
  carry_out(*known, step);
  if (step.to) {
    SqliteStatement(connection_, kAdvancing,
                    "update {schema}_reindex set state = ?2, reason = '' where id = ?1", known->id.value,
                    name_of(*step.to))
        .run();
  }
  if (step.to == kFilling || step.to == kKept || step.to == kDropping) {
    // The leader loads the pipeline again.
    SqliteStatement(connection_, kAdvancing,
                    "update {schema}_pipeline set revision = revision + 1 where id = ?1", pipeline_.id())
        .run();
  }
  write.commit(kAdvancing);
  connection_.sync();
  return true;
}

void SqliteReindexes::carry_out(const Reindex& known, const ReindexStep& step) {
  const std::string id = std::to_string(known.id.value);
  if (!step.to) return run("delete from {schema}_reindex where id = {id}", {{"id", id}});
  switch (*step.to) {
    case kFilling:
      return fill(known, step.generation);
    case kComparing:
      return compare(known);
    case kSwapping:
      return run("update {schema}_reindex set wanted = '' where id = {id}", {{"id", id}});
    case kKept:
      return run(sqlite_sql("swap_generations"), {{"reindex", id},
                                                  {"live", std::to_string(known.live.value().value)},
                                                  {"beside", std::to_string(known.beside.value().value)}});
    case kDropping:
      return drop(known, step.failure);
    case kCreating:
    case kFailed:
      return;
  }
}

void SqliteReindexes::fill(const Reindex& known, const NewGeneration& generation) {
  const std::string live = std::to_string(known.live.value().value);
  const std::string beside = std::to_string(known.beside ? known.beside->value : last_index() + 1);
  const std::string beside_name = quoted_text(generation.beside.index);
  if (!known.beside)
    run(sqlite_sql("copy_generation"), {{"live", live}, {"beside", beside}, {"beside_name", beside_name}});
  run(sqlite_sql("fill_generation"), {{"reindex", std::to_string(known.id.value)},
                                      {"live", live},
                                      {"live_name", quoted_text(generation.live.index)},
                                      {"live_written_by", quoted_text(generation.live.written_by)},
                                      {"beside", beside},
                                      {"beside_name", beside_name},
                                      {"beside_written_by", quoted_text(generation.beside.written_by)},
                                      {"documents", std::to_string(generation.documents)}});
}

int SqliteReindexes::last_index() {
  SqliteStatement number(connection_, kAdvancing, "select \"index\" from {schema}_counter");
  number.step();
  return static_cast<int>(stored_integer(number[0], "counter"));
}

// No sweep: an index that was empty when the changes began to be followed has nothing that the view does not
// have.
void SqliteReindexes::compare(const Reindex& known) {
  Filling added;
  added.holes = {{"schema", connection_.schema()},
                 {"pipeline", std::to_string(pipeline_.id())},
                 {"id", std::to_string(known.beside.value().value)},
                 {"reason", quoted_text("reindex of " + known.alias)}};
  added.blocks["jobs"] = {{{{"kind", "'comparison'"}}, {}}};
  connection_.execute(kAdvancing, fill_template(sqlite_sql("add_comparison"), added));
}

void SqliteReindexes::drop(const Reindex& known, const std::string& failure) {
  if (known.beside) run(sqlite_sql("drop_index"), {{"id", std::to_string(known.beside->value)}});
  SqliteStatement(connection_, kAdvancing, "update {schema}_index set written_by = null where id = ?1",
                  known.live ? std::optional<std::int64_t>(known.live->value) : std::nullopt)
      .run();
  SqliteStatement(connection_, kAdvancing,
                  "update {schema}_reindex set wanted = '', forced = 0, failure = ?2 where id = ?1",
                  known.id.value, failure)
      .run();
}

void SqliteReindexes::run(std::string_view sql, std::map<std::string, std::string> holes) {
  holes["schema"] = connection_.schema();
  connection_.execute(kAdvancing, fill_template(sql, {std::move(holes), {}}));
}

void SqliteReindexes::note(ReindexId reindex, const std::string& reason) {
  constexpr const char* kDoing = "noting why a reindex waits";
  SqliteWrite write(connection_, kDoing);
  SqliteStatement(connection_, kDoing,
                  "update {schema}_reindex set reason = ?2 where id = ?1 and reason <> ?2", reindex.value,
                  reason)
      .run();
  write.commit(kDoing);
}

std::int64_t SqliteReindexes::refused_beside(const Reindex& reindex) {
  if (!reindex.live || !reindex.beside) return 0;
  SqliteStatement row(
      connection_, "counting what only one generation refuses",
      "select count(*) from {schema}_dead_letter as d where d.index_id = ?1 and not exists (select 1 from "
      "{schema}_dead_letter as o where o.index_id = ?2 and o.id = d.id and o.routing = d.routing)",
      reindex.beside->value, reindex.live->value);
  row.step();
  return row[0].integer();
}

void SqliteReindexes::note_pace(IndexId index, JobKind kind, const Pace& pace) {
  constexpr const char* kDoing = "noting how fast a job was";
  SqliteWrite write(connection_, kDoing);
  SqliteStatement(connection_, kDoing, sqlite_sql("note_pace"), index.value, name_of(kind), pace.documents,
                  static_cast<std::int64_t>(pace.took.count()))
      .run();
  write.commit(kDoing);
}

std::optional<Pace> SqliteReindexes::pace(IndexId index, JobKind kind) {
  SqliteStatement row(connection_, "asking how fast a job was",
                      "select documents, milliseconds from {schema}_pace where index_id = ?1 and kind = ?2",
                      index.value, name_of(kind));
  if (!row.step()) return std::nullopt;
  return Pace{stored_integer(row[0], "pace"), std::chrono::milliseconds(stored_integer(row[1], "pace"))};
}

}  // namespace lockstep
