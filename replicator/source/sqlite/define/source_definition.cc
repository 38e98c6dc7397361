#include "replicator/source/sqlite/define/source_definition.h"

#include <sqlite3.h>

#include <optional>
#include <system_error>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/sqlite/catalog/index_text.h"
#include "replicator/source/sqlite/define/applied.h"
#include "replicator/source/sqlite/define/design.h"
#include "replicator/source/sqlite/define/plan.h"
#include "replicator/source/sqlite/define/preflight.h"
#include "replicator/source/sqlite/session/migrations.h"
#include "replicator/source/sqlite/session/sql_file.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

// Prepares a statement of each kind on a table, with whatever triggers it fires. False: the application's own
// schema needs a function of its own, or a trigger does not fit.
bool can_write(SqliteConnection& connection, const std::string& table) {
  const std::optional<SqliteTable> found = find_table(connection, table);
  if (!found) return false;
  std::string column;
  for (const SqliteTableColumn& each : found->columns) {
    if (!each.generated) column = each.quoted;
  }
  for (const std::string& statement :
       {"insert into " + found->quoted + " default values",
        "update " + found->quoted + " set " + column + " = " + column, "delete from " + found->quoted}) {
    sqlite3_stmt* prepared = nullptr;
    const int code = sqlite3_prepare_v2(connection.handle(), statement.c_str(), -1, &prepared, nullptr);
    sqlite3_finalize(prepared);
    if (code != SQLITE_OK) return false;
  }
  return true;
}

}  // namespace

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
    if (!view || !view->complaint.empty()) continue;
    std::vector<std::string>& names = fields[index.alias];
    for (const SqliteTableColumn& column : view->columns) {
      if (!column.name.starts_with('_')) names.push_back(column.name);
    }
  }
  return fields;
}

std::string SqliteSourceDefinition::identity() {
  const std::vector<std::string> found =
      ask("looking for the pipeline", "select identity from {schema}_pipeline where name = ?1");
  return found.empty() ? "" : found.front();
}

std::vector<std::string> SqliteSourceDefinition::applied_aliases() {
  return ask("looking for the pipeline's indices",
             "select i.alias from {schema}_index as i join {schema}_pipeline as p on p.id = i.pipeline where "
             "p.name = ?1 order by i.id");
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

std::vector<PlanStep> SqliteSourceDefinition::planned() {
  const SqlitePipelineDesign design = design_pipeline(connection_, config_);
  require_no_errors(design.findings);
  const SqliteApplied applied = load_applied(connection_, config_.pipeline);
  return make_plan({connection_, config_.pipeline, design, applied});
}

std::vector<PlanStep> SqliteSourceDefinition::plan() {
  const SqliteSnapshot snapshot(connection_, "planning");
  std::vector<PlanStep> steps;
  for (const Migration& migration : pending_migrations(connection_)) {
    steps.push_back({PlanStep::Action::kCreate, "migration " + std::string(migration.name),
                     "tables " + connection_.schema() + "_…", migration_sql(connection_, migration)});
  }
  for (PlanStep& step : planned()) steps.push_back(std::move(step));
  std::vector<Finding> findings;
  check_file(connection_, findings);
  // A view that cannot be read would only be set aside.
  check_documents(connection_, config_, findings);
  require_no_errors(findings);
  return steps;
}

void SqliteSourceDefinition::apply(const Progress& progress) {
  constexpr const char* kDoing = "applying the configuration";
  // Without the lock, for whoever writes waits behind it.
  if (plan().empty()) return;
  write(kDoing, progress, [&] {
    migrate(connection_, [&](const Migration& migration) {
      if (progress.step) {
        progress.step({PlanStep::Action::kCreate, "migration " + std::string(migration.name),
                       "tables " + connection_.schema() + "_…", migration_sql(connection_, migration)});
      }
    });
    std::map<std::string, bool> tables;
    for (const SqliteTableCapture& capture : design_pipeline(connection_, config_).captures)
      tables.emplace(capture.relation, can_write(connection_, capture.relation));
    run(kDoing, progress, planned());
    for (const auto& [table, could_write] : tables) {
      if (!could_write || can_write(connection_, table)) continue;
      throw Error({kDoing,
                   "with its triggers no statement on table " + table +
                       " could be prepared: " + sqlite3_errmsg(connection_.handle()),
                   "nothing was changed; please report the table's definition"});
    }
  });
}

std::vector<PlanStep> SqliteSourceDefinition::removal_plan() {
  const SqliteSnapshot snapshot(connection_, "planning the removal");
  return make_removal_plan(connection_, config_.pipeline, load_applied(connection_, config_.pipeline));
}

void SqliteSourceDefinition::remove(const Progress& progress) {
  constexpr const char* kDoing = "removing the pipeline";
  if (removal_plan().empty()) return;
  write(kDoing, progress, [&] {
    run(kDoing, progress,
        make_removal_plan(connection_, config_.pipeline, load_applied(connection_, config_.pipeline)));
  });
  std::error_code absent;  // perhaps nobody has led
  std::filesystem::remove(connection_.file().status(config_.pipeline), absent);
}

void SqliteSourceDefinition::run(const char* doing, const Progress& progress,
                                 const std::vector<PlanStep>& steps) {
  for (const PlanStep& step : steps) {
    if (progress.step) progress.step(step);
    connection_.execute(doing, step.sql);
  }
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
                     "somebody had the file locked for too long: end the long transaction, or try again when "
                     "less is going on",
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
