#include "replicator/source/sqlite/define/source_definition.h"

#include <sqlite3.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/index_definition.h"
#include "replicator/source/sqlite/catalog/index_text.h"
#include "replicator/source/sqlite/catalog/view_shape.h"
#include "replicator/source/sqlite/define/altered_indices.h"
#include "replicator/source/sqlite/define/applied.h"
#include "replicator/source/sqlite/define/design.h"
#include "replicator/source/sqlite/define/plan.h"
#include "replicator/source/sqlite/define/preflight.h"
#include "replicator/source/sqlite/read/reindexes.h"
#include "replicator/source/sqlite/session/migrations.h"
#include "replicator/source/sqlite/session/sql_file.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/source/sqlite/watch/status_file.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

// A statement of each kind on a table, with the triggers that it fires.
std::vector<std::string> statements_on(SqliteConnection& connection, const std::string& name) {
  const std::optional<SqliteTable> table = find_table(connection, name);
  if (!table) return {};
  std::string column;
  for (const SqliteTableColumn& each : table->columns) {
    if (!each.generated) column = each.quoted;
  }
  return {"insert into " + table->quoted + " default values",
          "update " + table->quoted + " set " + column + " = " + column, "delete from " + table->quoted};
}

// False: the application's own schema needs a function of its own, or a trigger does not fit.
bool can_prepare(SqliteConnection& connection, const std::string& statement) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(connection.handle(), statement.c_str(), -1, &prepared, nullptr);
  sqlite3_finalize(prepared);
  return code == SQLITE_OK;
}

PlanStep step_of(const SqliteConnection& connection, const Migration& migration) {
  return {PlanStep::Action::kCreate, "migration " + std::string(migration.name),
          "tables " + connection.schema() + "_…", migration_sql(connection, migration)};
}

// After the transaction: the reader of these lines may be slow.
void tell(const SourceDefinition::Progress& progress, const std::vector<PlanStep>& steps) {
  if (!progress.step) return;
  for (const PlanStep& step : steps) progress.step(step);
}

}  // namespace

struct SqliteSourceDefinition::Draft {
  std::int64_t schema_version = 0;
  SqliteApplied applied;
  std::vector<PlanStep> steps;
  std::vector<std::string> writes;  // statements on the tables that can be prepared, and must be afterwards
};

SqliteSourceDefinition::SqliteSourceDefinition(const Config& config, std::chrono::milliseconds patience)
    : config_(config), patience_(patience), connection_(config.source) {}

std::string SqliteSourceDefinition::server() {
  return std::string("SQLite ") + sqlite3_libversion();
}

std::vector<Finding> SqliteSourceDefinition::check() {
  const SqliteSnapshot snapshot(connection_, "checking the source");
  return check_sqlite(connection_, config_);
}

std::map<std::string, std::vector<std::string>> SqliteSourceDefinition::document_fields() {
  const SqliteSnapshot snapshot(connection_, "looking for the fields of documents");
  std::map<std::string, std::vector<std::string>> fields;
  for (const IndexConfig& index : config_.indices) {
    const std::optional<SqliteTable> view = find_table(connection_, index.view);
    if (view && view->complaint.empty()) fields[index.alias] = shape_of(*view, {}).fields;
  }
  return fields;
}

std::string SqliteSourceDefinition::identity() {
  const std::vector<std::string> found =
      ask("looking for the pipeline", "select identity from {schema}_pipeline where name = ?1");
  return found.empty() ? "" : found.front();
}

std::vector<std::string> SqliteSourceDefinition::applied_aliases() {
  const SqliteSnapshot snapshot(connection_, "looking for the pipeline's indices");
  std::vector<std::string> aliases;
  for (const auto& [alias, index] : load_applied(connection_, config_.pipeline).indices) {
    if (index.followed) aliases.push_back(alias);
  }
  return aliases;
}

void SqliteSourceDefinition::refill(const std::vector<std::string>& aliases, const std::string& reason) {
  constexpr const char* kDoing = "asking for a backfill";
  write(kDoing, {}, [&] {
    const SqliteApplied applied = load_applied(connection_, config_.pipeline);
    for (const std::string& alias : aliases) {
      const auto index = applied.indices.find(alias);
      if (index == applied.indices.end()) continue;
      const Filling refilled = {{{"schema", connection_.schema()},
                                 {"pipeline", std::to_string(*applied.pipeline)},
                                 {"id", std::to_string(index->second.id)},
                                 {"reason", quoted_text(reason)}},
                                {}};
      connection_.execute(kDoing, fill_template(sqlite_sql("refill_index"), refilled));
    }
  });
}

std::map<std::string, std::vector<DefinitionDifference>> SqliteSourceDefinition::definition_differences() {
  const SqliteSnapshot snapshot(connection_, "comparing definitions");
  const SqliteApplied applied = load_applied(connection_, config_.pipeline);
  std::map<std::string, std::vector<DefinitionDifference>> differences;
  for (const IndexConfig& index : config_.indices) {
    const auto row = applied.indices.find(index.alias);
    const std::optional<SqliteTable> view = find_table(connection_, index.view);
    if (row == applied.indices.end() || !view || !view->complaint.empty()) continue;
    auto found = compare_shapes(row->second, shape_of(*view, row->second));
    if (!found.empty()) differences.emplace(index.alias, std::move(found));
  }
  return differences;
}

std::vector<std::string> SqliteSourceDefinition::redefined_aliases() {
  const SqliteSnapshot snapshot(connection_, "comparing definitions");
  return redefined(config_, stored_indices_of(load_applied(connection_, config_.pipeline).indices));
}

std::vector<std::string> SqliteSourceDefinition::altered_aliases() {
  const SqliteSnapshot snapshot(connection_, "comparing definitions");
  std::vector<std::string> aliases;
  for (const SqliteAlteredIndex& index :
       altered_indices(connection_, load_applied(connection_, config_.pipeline))) {
    if (index.is_searched && !index.changed.empty()) aliases.push_back(index.alias);
  }
  return aliases;
}

SqliteSourceDefinition::Draft SqliteSourceDefinition::make_draft(Definitions definitions) {
  Draft draft;
  draft.schema_version = connection_.schema_version();
  draft.applied = load_applied(connection_, config_.pipeline);
  const std::vector<StoredIndex> stored = stored_indices_of(draft.applied.indices);
  const SqlitePipelineDesign design =
      design_pipeline(connection_, config_,
                      definitions == Definitions::kWanted ? wanted_indices(config_, stored)
                                                          : stored_indices(config_, stored));
  require_no_errors(design.findings);
  draft.steps = make_plan({connection_, config_.pipeline, design, draft.applied, filled_});
  std::set<std::string> tables;
  for (const SqliteTableCapture& capture : design.captures) tables.insert(capture.relation);
  for (const std::string& table : tables) {
    for (std::string& statement : statements_on(connection_, table)) {
      if (can_prepare(connection_, statement)) draft.writes.push_back(std::move(statement));
    }
  }
  return draft;
}

std::vector<PlanStep> SqliteSourceDefinition::plan_all(Draft& draft) {
  std::vector<PlanStep> steps;
  for (const Migration& migration : pending_migrations(connection_))
    steps.push_back(step_of(connection_, migration));
  draft = make_draft(Definitions::kWanted);
  steps.insert(steps.end(), draft.steps.begin(), draft.steps.end());
  std::vector<Finding> findings;
  check_file(connection_, findings);
  // A view that cannot be read would only be paused.
  check_documents(connection_, config_, findings);
  require_no_errors(findings);
  return steps;
}

std::vector<PlanStep> SqliteSourceDefinition::plan() {
  const SqliteSnapshot snapshot(connection_, "planning");
  Draft draft;
  return plan_all(draft);
}

void SqliteSourceDefinition::apply(const Progress& progress) {
  constexpr const char* kDoing = "applying the configuration";
  Draft draft;
  {
    const SqliteSnapshot snapshot(connection_, "planning");
    if (plan_all(draft).empty()) return;
  }
  std::vector<PlanStep> steps;
  write(kDoing, progress, [&] { steps = run_draft(draft); });
  tell(progress, steps);
}

std::vector<PlanStep> SqliteSourceDefinition::run_draft(Draft draft) {
  constexpr const char* kDoing = "applying the configuration";
  const bool is_same_schema = connection_.schema_version() == draft.schema_version;
  std::vector<PlanStep> done;
  migrate(connection_, [&](const Migration& migration) { done.push_back(step_of(connection_, migration)); });
  draft.applied.has_tables = true;
  if (!is_same_schema || load_applied(connection_, config_.pipeline) != draft.applied)
    draft = make_draft(Definitions::kWanted);
  run_steps(kDoing, draft);
  done.insert(done.end(), draft.steps.begin(), draft.steps.end());
  return done;
}

void SqliteSourceDefinition::run_steps(const char* doing, const Draft& draft) {
  run(doing, draft.steps);
  for (const std::string& statement : draft.writes) {
    if (can_prepare(connection_, statement)) continue;
    throw Error({doing,
                 "with its triggers this statement could not be prepared: " + statement + ": " +
                     sqlite3_errmsg(connection_.handle()),
                 "nothing was changed; please report the table's definition"});
  }
}

// The new generation is a row of the table index that is not followed yet, with the definition of the
// configuration. So its captures are made as `apply` makes them.
bool SqliteSourceDefinition::start_reindex(const WantedReindex& wanted, const Progress& progress) {
  constexpr const char* kDoing = "starting a reindex";
  const IndexConfig& configured = definition_for_reindex(config_, wanted.alias);
  std::vector<PlanStep> steps;
  bool is_started = false;
  write(kDoing, progress, [&] {
    require_migrated(connection_);
    const SqliteApplied applied = load_applied(connection_, config_.pipeline);
    is_started = applied.pipeline && add_reindex(connection_, *applied.pipeline, wanted);
    if (!is_started) return;
    const Filling defined = {{{"schema", connection_.schema()},
                              {"pipeline", std::to_string(*applied.pipeline)},
                              {"alias", quoted_text(wanted.alias)},
                              {"configured", quoted_text(definition_text(configured))}},
                             {}};
    connection_.execute(kDoing, fill_template(sqlite_sql("define_generation"), defined));
    const Draft draft = make_draft(Definitions::kStored);
    run_steps(kDoing, draft);
    steps = draft.steps;
  });
  tell(progress, steps);
  return is_started;
}

void SqliteSourceDefinition::drop_unneeded(const Progress& progress) {
  constexpr const char* kDoing = "dropping unneeded objects";
  std::vector<PlanStep> steps;
  write(kDoing, progress, [&] {
    require_migrated(connection_);
    const Draft draft = make_draft(Definitions::kStored);
    run_steps(kDoing, draft);
    steps = draft.steps;
  });
  tell(progress, steps);
}

std::vector<PlanStep> SqliteSourceDefinition::removal_plan() {
  const SqliteSnapshot snapshot(connection_, "planning the removal");
  return make_removal_plan(connection_, config_.pipeline, load_applied(connection_, config_.pipeline));
}

void SqliteSourceDefinition::remove(const Progress& progress) {
  constexpr const char* kDoing = "removing the pipeline";
  if (removal_plan().empty()) return;
  std::vector<PlanStep> steps;
  write(kDoing, progress, [&] {
    steps = make_removal_plan(connection_, config_.pipeline, load_applied(connection_, config_.pipeline));
    run(kDoing, steps);
  });
  tell(progress, steps);
  remove_report(connection_.file().status(config_.pipeline));
}

void SqliteSourceDefinition::run(const char* doing, const std::vector<PlanStep>& steps) {
  for (const PlanStep& step : steps) connection_.execute(doing, step.sql);
}

void SqliteSourceDefinition::write(const char* doing, const Progress& progress,
                                   const std::function<void()>& body) {
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  while (true) {
    try {
      SqliteWrite transaction(connection_, doing);
      body();
      transaction.commit(doing);
      break;
    } catch (const SqliteError& error) {
      if (error.primary_code() != SQLITE_BUSY) throw;
      if (std::chrono::steady_clock::now() > deadline) {
        throw Error({doing, error.parts().cause,
                     "the file was locked for too long: end the long transaction, or try again when "
                     "the load is lower",
                     Retry::kLater, Server::kSource});
      }
      if (progress.waiting) progress.waiting("the file is locked; trying again: " + error.parts().cause);
    }
  }
  connection_.sync();
}

std::vector<std::string> SqliteSourceDefinition::ask(std::string_view doing, std::string_view query) {
  const SqliteSnapshot snapshot(connection_, doing);
  std::vector<std::string> values;
  if (!has_own_tables(connection_)) return values;
  SqliteStatement rows(connection_, doing, query, config_.pipeline);
  while (rows.step()) values.emplace_back(rows[0].text());
  return values;
}

}  // namespace lockstep
