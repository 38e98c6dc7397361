#include "replicator/source/postgres/define/definition.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "replicator/backoff.h"
#include "replicator/embedded_file.h"
#include "replicator/error.h"
#include "replicator/source/index_definition.h"
#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/view_parts.h"
#include "replicator/source/postgres/catalog/view_shape.h"
#include "replicator/source/postgres/define/applied.h"
#include "replicator/source/postgres/define/grants.h"
#include "replicator/source/postgres/define/row_checks.h"
#include "replicator/source/postgres/define/triggers.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

std::vector<PlanStep> steps_of(DefinitionPlan&& plan) {
  std::vector<PlanStep> steps = std::move(plan.preparation);
  steps.insert(steps.end(), std::make_move_iterator(plan.triggers.begin()),
               std::make_move_iterator(plan.triggers.end()));
  return steps;
}

// The objection of triggers' code to the table. It looks at columns alone, and no row can make it fail.
std::string misfit(PostgresTransaction& transaction, const ChangedTable& table) {
  const pqxx::result found = transaction.run_once("select coalesce(" + table.check + "(), '')");
  return found[0][0].c_str();
}

// The objection of triggers' code to some rows: it runs on a copy of them, which no other session sees. Each
// copy costs as much as all triggers that were tried before in this session have statements, since a new
// table makes the server look at the plans of all.
std::string failed_trial(PostgresTransaction& transaction, const ChangedTable& table) {
  const std::string copy = transaction.session().schema() + ".trial";
  const std::string set = " set " + table.column + " = " + table.column;
  const std::string one_row = " where ctid = (select min(ctid) from " + copy + ")";
  std::vector<std::string> script = {"create table " + copy + " as select * from " + table.relation +
                                     " limit 3"};
  for (const std::string& expression : table.expressions) {
    script.push_back("select (" + expression + "\n)::pg_catalog.text from " + copy + " as " + table.alias);
  }
  std::string trial;
  for (std::size_t i = 0; i < table.functions.size(); ++i) {
    const TriggerEvent event = kTriggerEvents[i];
    trial += create_trigger_sql(event_name(event), copy, table.functions[i], event) + ";\n";
  }
  if (table.expressions.empty())
    trial += "insert into " + copy + " select from generate_series(1, 2) where not exists (select from " +
             copy + ");\n";
  // Each kind of statement on one row, then on all.
  trial += "insert into " + copy + " select * from " + copy + " limit 1;\n";
  trial += "insert into " + copy + " select * from " + copy + ";\n";
  trial += "update " + copy + set + one_row + ";\n";
  trial += "update " + copy + set + ";\n";
  trial += "delete from " + copy + one_row + ";\n";
  trial += "delete from " + copy + ";\n";
  trial += "truncate " + copy + ";\n";
  script.push_back("do " + dollar_quoted("begin\n" + trial + "end"));
  script.push_back("select coalesce(current_setting('lockstep.fallback', true), '')");
  std::string failure;
  if (const std::optional<Complaint> complaint = complaint_about(
          transaction, script, [&](const pqxx::result& result) { failure = result[0][0].c_str(); })) {
    failure = complaint->message;
  }
  return failure;
}

// Triggers that take the fallback (triggers.h, T5) write too much.
void try_out(PostgresTransaction& transaction, const ChangedTable& table) {
  if (table.needs_trial) {
    const std::string failure = failed_trial(transaction, table);
    if (failure.empty()) return;
    throw Error({"trying the triggers of " + table.relation + " on a copy of a few rows", failure,
                 "an expression in `row` must work for every row of the table"});
  }
  const std::string failure = misfit(transaction, table);
  if (failure.empty()) return;
  throw Error({"comparing the triggers of " + table.relation + " with its columns", failure,
               "try again when the table's columns are not being changed"});
}

void execute(PostgresTransaction& transaction, const DefinitionPlan& plan,
             const PostgresDefinition::Progress& progress) {
  const auto run = [&](const PlanStep& step) {
    if (progress.step && !step.object.empty()) progress.step(step);
    transaction.execute(step.sql);
  };
  for (const PlanStep& step : plan.preparation) run(step);
  for (const ChangedTable& table : plan.changed) try_out(transaction, table);
  for (const std::string& lock : plan.locks) transaction.execute(lock);
  for (const PlanStep& step : plan.triggers) run(step);
}

}  // namespace

PostgresDefinition::PostgresDefinition(PostgresSession& session, const Config& config)
    : PostgresDefinition(session, config, Patience{}) {}

PostgresDefinition::PostgresDefinition(PostgresSession& session, const Config& config, Patience patience)
    : session_(session), config_(config), patience_(patience) {}

std::vector<Migration> PostgresDefinition::pending(PostgresTransaction& transaction) {
  return pending_migrations(transaction, config_.source.schema, read_migrations(postgresql_migrations()));
}

PlanStep PostgresDefinition::step_of(const Migration& migration) const {
  return {PlanStep::Action::kCreate, "migration " + std::string(migration.name),
          "in schema " + session_.schema(), migration_sql(session_, migration)};
}

std::vector<PlanStep> PostgresDefinition::plan() {
  PostgresTransaction transaction(session_, "planning");
  plan_lookups_once(transaction);
  std::vector<PlanStep> steps = to_hand_over(transaction);
  if (!steps.empty()) return steps;
  for (const Migration& migration : pending(transaction)) steps.push_back(step_of(migration));
  const PipelineDesign design = sound_design(transaction, Definitions::kWanted);
  for (PlanStep& step : steps_of(make(transaction, design, Ids::kPredicted)))
    steps.push_back(std::move(step));
  if (std::optional<PlanStep> given = give_to_owner(transaction, config_)) steps.push_back(std::move(*given));
  transaction.execute("set transaction read only");  // the application's code runs from here on
  // A view that cannot be read would only be paused.
  std::vector<Finding> findings;
  check_documents(transaction, design, findings);
  require_no_errors(findings);
  return steps;
}

AppliedObjects PostgresDefinition::applied(PostgresTransaction& transaction) {
  pending(transaction);  // throws for migrations of a newer Lockstep
  return load_applied(transaction, config_.source.schema, config_.pipeline);
}

PipelineDesign PostgresDefinition::sound_design(PostgresTransaction& transaction, Definitions definitions) {
  const std::vector<StoredIndex> stored = stored_indices_of(applied(transaction).indices);
  PipelineDesign design =
      design_pipeline(transaction, config_,
                      definitions == Definitions::kWanted ? wanted_indices(config_, stored)
                                                          : stored_indices(config_, stored));
  std::vector<Finding> findings = design.findings;
  findings.insert(findings.end(), design.denied.begin(), design.denied.end());
  require_no_errors(findings);
  return design;
}

DefinitionPlan PostgresDefinition::make(PostgresTransaction& transaction, const PipelineDesign& design,
                                        Ids ids) {
  const AppliedObjects known = applied(transaction);
  std::map<std::string, int> predicted;
  return make_plan({transaction, config_.source.schema, config_.pipeline, design, known, filled_,
                    [&](const std::string& table) {
                      if (!known.has_schema) return ++predicted[table];
                      return next_id(transaction, table, ids, predicted[table]++);
                    }});
}

int PostgresDefinition::next_id(PostgresTransaction& transaction, const std::string& table, Ids ids,
                                int already_predicted) {
  const std::string sequence =
      "pg_get_serial_sequence(" + transaction.quote(session_.schema() + "." + table) + ", 'id')::regclass";
  if (ids == Ids::kTaken) {
    return transaction.run_once("select nextval(" + sequence + ")")[0][0].as<int>();
  }
  const pqxx::result last =
      transaction.run_once("select coalesce(pg_sequence_last_value(" + sequence + "), 0)");
  return last[0][0].as<int>() + 1 + already_predicted;
}

// By the views that the configuration names no more, and indices still follow.
std::vector<LentRight> PostgresDefinition::lent_to_generations(PostgresTransaction& transaction) {
  Config followed = config_;
  followed.indices = wanted_indices(config_, stored_indices_of(applied(transaction).indices));
  return lent_rights(transaction, followed);
}

// A session that would lend rights to the owners of the objects that it reads may not even look for faults.
std::vector<PlanStep> PostgresDefinition::to_hand_over(PostgresTransaction& transaction) {
  std::vector<LentRight> lent = lent_rights(transaction, config_);
  if (lent.empty()) lent = lent_to_generations(transaction);
  if (lent.empty()) return {};
  std::vector<PlanStep> steps = hand_over(transaction, config_);
  if (steps.empty()) throw UsageError(to_line(to_finding(lent, config_)));
  return steps;
}

void PostgresDefinition::apply(const Progress& progress) {
  bool hands_over = false;
  patiently("checking the configuration", progress, [&](PostgresTransaction& transaction) {
    plan_lookups_once(transaction);
    hands_over = !to_hand_over(transaction).empty();
    if (!hands_over) sound_design(transaction, Definitions::kWanted);
  });
  if (hands_over) return give_schema_away(progress);
  retried("migrating lockstep's schema", progress, [&] {
    migrate(session_, config_.source.schema, read_migrations(postgresql_migrations()),
            [&](const Migration& migration) {
              if (progress.step) progress.step(step_of(migration));
            });
  });
  carry_out("applying the configuration", progress, [&](PostgresTransaction& transaction) {
    return make_and_reload(transaction, Definitions::kWanted);
  });
  carry_out("giving lockstep's schema to the owner of the tables", progress,
            [&](PostgresTransaction& transaction) {
              DefinitionPlan plan;
              if (std::optional<PlanStep> given = give_to_owner(transaction, config_))
                plan.preparation.push_back(std::move(*given));
              return plan;
            });
}

DefinitionPlan PostgresDefinition::make_and_reload(PostgresTransaction& transaction,
                                                   Definitions definitions) {
  DefinitionPlan plan = make(transaction, sound_design(transaction, definitions), Ids::kTaken);
  if (plan.empty()) return plan;
  plan.triggers.push_back(
      {PlanStep::Action::kChange, "", "",
       session_.sql("update {schema}.pipeline set applied_at = clock_timestamp() where name = ") +
           transaction.quote(config_.pipeline)});
  return plan;
}

// The new generation is a row of the table index that is not followed yet, with the definition of the
// configuration. So its captures are made as `apply` makes them.
bool PostgresDefinition::start_reindex(const WantedReindex& wanted, const Progress& progress) {
  const IndexConfig& configured = definition_for_reindex(config_, wanted.alias);
  bool is_started = false;
  carry_out("starting a reindex", progress, [&](PostgresTransaction& transaction) {
    require_handed_over(transaction);
    require_migrated(transaction, config_.source.schema);
    const AppliedObjects known = applied(transaction);
    is_started = known.pipeline &&
                 !transaction
                      .run_once(session_.sql(postgres_sql("start_reindex")), *known.pipeline, wanted.alias,
                                session_.storable(wanted.mapping), wanted.keep.count(), wanted.max_rate)
                      .empty();
    if (!is_started) return DefinitionPlan{};
    transaction.run_once(session_.sql(postgres_sql("define_generation")), *known.pipeline, wanted.alias,
                         definition_text(configured));
    return make_and_reload(transaction, Definitions::kStored);
  });
  return is_started;
}

void PostgresDefinition::drop_unneeded(const Progress& progress) {
  carry_out("dropping unneeded objects", progress, [&](PostgresTransaction& transaction) {
    require_handed_over(transaction);
    return make_and_reload(transaction, Definitions::kStored);
  });
}

void PostgresDefinition::require_handed_over(PostgresTransaction& transaction) {
  if (!to_hand_over(transaction).empty())
    throw UsageError("lockstep's schema is still to be handed over; run `lockstep apply`");
}

std::map<std::string, std::vector<DefinitionDifference>> PostgresDefinition::differences() {
  PostgresTransaction transaction(session_, "comparing definitions");
  const AppliedObjects known = applied(transaction);
  std::map<std::string, std::vector<DefinitionDifference>> differences;
  for (const IndexConfig& index : config_.indices) {
    const auto row = known.indices.find(index.alias);
    std::string why;
    const std::optional<PostgresRelation> view = find_relation(transaction, index.view, why);
    if (row == known.indices.end() || !view) continue;
    auto found = compare_shapes(row->second, shape_of(*view, row->second));
    if (!found.empty()) differences.emplace(index.alias, std::move(found));
  }
  return differences;
}

std::vector<std::string> PostgresDefinition::redefined_aliases() {
  PostgresTransaction transaction(session_, "comparing definitions");
  return redefined(config_, stored_indices_of(applied(transaction).indices));
}

std::vector<std::string> PostgresDefinition::altered_aliases() {
  PostgresTransaction transaction(session_, "comparing definitions");
  std::vector<std::string> aliases;
  for (const auto& [alias, index] : applied(transaction).indices) {
    std::string why;
    const std::optional<PostgresRelation> view = find_relation(transaction, index.view, why);
    if (!view || index.beside) continue;
    const ViewParts now = read_view_parts(transaction, view->oid, stored_whole_rows(index.definition));
    if (!now.compared_with(transaction, index.definition).changed.empty()) aliases.push_back(alias);
  }
  return aliases;
}

// Without the migrations: the owner of a part of the schema could have them run code.
void PostgresDefinition::give_schema_away(const Progress& progress) {
  carry_out("handing lockstep's schema over", progress, [&](PostgresTransaction& transaction) {
    DefinitionPlan plan;
    plan.preparation = to_hand_over(transaction);
    return plan;
  });
}

DefinitionPlan PostgresDefinition::make_removal(PostgresTransaction& transaction) {
  return make_removal_plan(transaction, config_.pipeline,
                           load_applied(transaction, config_.source.schema, config_.pipeline));
}

std::vector<PlanStep> PostgresDefinition::removal_plan() {
  PostgresTransaction transaction(session_, "planning the removal");
  return steps_of(make_removal(transaction));
}

void PostgresDefinition::remove(const Progress& progress) {
  carry_out("removing the pipeline", progress,
            [&](PostgresTransaction& transaction) { return make_removal(transaction); });
}

void PostgresDefinition::carry_out(const char* doing, const Progress& progress,
                                   const std::function<DefinitionPlan(PostgresTransaction&)>& make_plan) {
  patiently(doing, progress, [&](PostgresTransaction& transaction) {
    transaction.execute("set transaction isolation level read committed");
    transaction.execute("set local check_function_bodies = on");
    plan_lookups_once(transaction);
    // Neither another `apply` nor a step of a reindex (advance_reindex.sql) changes these rows meanwhile.
    transaction.run_once("select pg_advisory_xact_lock(hashtextextended('lockstep apply ' || $1, 0))",
                         config_.source.schema);
    const DefinitionPlan plan = make_plan(transaction);
    if (plan.empty()) return;
    execute(transaction, plan, progress);
    transaction.commit();
  });
}

void PostgresDefinition::patiently(const char* doing, const Progress& progress,
                                   const std::function<void(PostgresTransaction&)>& body) {
  retried(doing, progress, [&] {
    PostgresTransaction transaction(session_, doing);
    transaction.execute("set local lock_timeout = '" + std::to_string(patience_.lock_timeout.count()) +
                        "ms'");
    body(transaction);
  });
}

void PostgresDefinition::retried(const char* doing, const Progress& progress,
                                 const std::function<void()>& attempt) {
  const auto deadline = std::chrono::steady_clock::now() + patience_.total;
  Backoff pause({std::chrono::milliseconds(200), std::chrono::milliseconds(2'000)}, std::random_device{}());
  while (true) {
    try {
      attempt();
      return;
    } catch (const Error& error) {
      if (!error.retryable() || !session_.is_open()) throw;
      if (std::chrono::steady_clock::now() > deadline) {
        throw Error(
            {doing, error.parts().cause,
             "a table stayed in use for too long: end the long transactions (pg_stat_activity shows them in "
             "xact_start), or try again when the load is lower",
             Retry::kLater});
      }
      if (progress.waiting) progress.waiting("a table is in use; trying again: " + error.parts().cause);
    }
    std::this_thread::sleep_for(pause.next());
  }
}

std::vector<std::string> PostgresDefinition::grants(const std::string& role) {
  PostgresTransaction transaction(session_, "listing privileges");
  if (!to_hand_over(transaction).empty()) return {};
  return grants_for_run(transaction, sound_design(transaction, Definitions::kWanted), role);
}

}  // namespace lockstep
