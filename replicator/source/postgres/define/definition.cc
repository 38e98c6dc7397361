#include "replicator/source/postgres/define/definition.h"

#include <map>
#include <random>
#include <thread>
#include <utility>

#include "replicator/backoff.h"
#include "replicator/embedded_file.h"
#include "replicator/error.h"
#include "replicator/source/postgres/define/applied.h"
#include "replicator/source/postgres/define/design.h"
#include "replicator/source/postgres/define/grants.h"

namespace lockstep {
namespace {

void refuse_faults(const PipelineDesign& design) {
  std::string faults;
  for (const std::vector<Finding>* findings : {&design.findings, &design.denied}) {
    for (const Finding& finding : *findings) {
      if (finding.severity != Finding::Severity::kError) continue;
      faults += (faults.empty() ? "" : "\n") + to_line(finding);
    }
  }
  if (!faults.empty()) throw UsageError(faults);
}

std::vector<PlanStep> steps_of(DefinitionPlan&& plan) {
  std::vector<PlanStep> steps = std::move(plan.preparation);
  steps.insert(steps.end(), std::make_move_iterator(plan.triggers.begin()),
               std::make_move_iterator(plan.triggers.end()));
  return steps;
}

}  // namespace

PostgresDefinition::PostgresDefinition(PostgresSession& session, const Config& config)
    : PostgresDefinition(session, config, Patience{}) {}

PostgresDefinition::PostgresDefinition(PostgresSession& session, const Config& config, Patience patience)
    : session_(session), config_(config), patience_(patience) {}

std::vector<Migration> PostgresDefinition::pending(pqxx::work& transaction) {
  return pending_migrations(transaction, session_, config_.source.schema,
                            read_migrations(postgresql_migrations()));
}

std::vector<PlanStep> PostgresDefinition::plan() {
  std::vector<PlanStep> steps;
  translating_postgres_errors("planning", [&] {
    pqxx::work transaction(session_.connection());
    transaction.exec0("set transaction read only");
    for (const Migration& migration : pending(transaction)) {
      steps.push_back({PlanStep::Action::kCreate, "migration " + std::string(migration.name),
                       "in schema " + session_.schema(), migration_sql(session_, migration)});
    }
    for (PlanStep& step : steps_of(make(transaction, Ids::kPredicted))) steps.push_back(std::move(step));
  });
  return steps;
}

DefinitionPlan PostgresDefinition::make(pqxx::work& transaction, Ids ids) {
  const PipelineDesign design = design_pipeline(transaction, config_);
  refuse_faults(design);
  const AppliedObjects applied = load_applied(transaction, session_, config_.source.schema, config_.pipeline);
  std::map<std::string, int> predicted;
  const Ids source = applied.has_schema ? ids : Ids::kPredicted;
  return make_plan({transaction, session_, config_.source.schema, config_.pipeline, design, applied,
                    [&](const std::string& table) {
                      if (!applied.has_schema) return ++predicted[table];
                      return next_id(transaction, table, source, predicted[table]++);
                    }});
}

int PostgresDefinition::next_id(pqxx::work& transaction, const std::string& table, Ids ids,
                                int already_predicted) {
  const std::string sequence =
      "pg_get_serial_sequence(" + transaction.quote(session_.schema() + "." + table) + ", 'id')::regclass";
  if (ids == Ids::kTaken) return transaction.exec1("select nextval(" + sequence + ")")[0].as<int>();
  return transaction.exec1("select coalesce(pg_sequence_last_value(" + sequence + "), 0)")[0].as<int>() + 1 +
         already_predicted;
}

void PostgresDefinition::apply(const Progress& progress) {
  patiently("checking the configuration", progress,
            [&](pqxx::work& transaction) { refuse_faults(design_pipeline(transaction, config_)); });
  migrate(session_, config_.source.schema, read_migrations(postgresql_migrations()),
          [&](const Migration& migration) {
            if (!progress.step) return;
            progress.step({PlanStep::Action::kCreate, "migration " + std::string(migration.name),
                           "in schema " + session_.schema(), migration_sql(session_, migration)});
          });
  in_one_transaction("applying the configuration", progress, [&](pqxx::work& transaction) {
    DefinitionPlan plan = make(transaction, Ids::kTaken);
    if (plan.empty()) return plan;
    plan.triggers.push_back(
        {PlanStep::Action::kChange, "", "",
         session_.sql("update {schema}.pipeline set applied_at = clock_timestamp() where name = ") +
             transaction.quote(config_.pipeline)});
    return plan;
  });
}

std::vector<PlanStep> PostgresDefinition::removal_plan() {
  std::vector<PlanStep> steps;
  translating_postgres_errors("planning the removal", [&] {
    pqxx::work transaction(session_.connection());
    steps = steps_of(
        make_removal_plan(transaction, session_, config_.pipeline,
                          load_applied(transaction, session_, config_.source.schema, config_.pipeline)));
  });
  return steps;
}

void PostgresDefinition::remove(const Progress& progress) {
  in_one_transaction("removing the pipeline", progress, [&](pqxx::work& transaction) {
    return make_removal_plan(transaction, session_, config_.pipeline,
                             load_applied(transaction, session_, config_.source.schema, config_.pipeline));
  });
}

void PostgresDefinition::in_one_transaction(const char* doing, const Progress& progress,
                                            const std::function<DefinitionPlan(pqxx::work&)>& make_plan) {
  patiently(doing, progress, [&](pqxx::work& transaction) {
    transaction.exec0("set local check_function_bodies = on");
    transaction.exec_params("select pg_advisory_xact_lock(hashtextextended('lockstep apply ' || $1, 0))",
                            config_.source.schema);
    const DefinitionPlan plan = make_plan(transaction);
    if (plan.empty()) return;
    execute(transaction, plan, progress);
    transaction.commit();
  });
}

void PostgresDefinition::patiently(const char* doing, const Progress& progress,
                                   const std::function<void(pqxx::work&)>& body) {
  const auto deadline = std::chrono::steady_clock::now() + patience_.total;
  Backoff pause({std::chrono::milliseconds(200), std::chrono::milliseconds(2'000)}, std::random_device{}());
  while (true) {
    try {
      translating_postgres_errors(doing, [&] {
        pqxx::work transaction(session_.connection());
        transaction.exec0("set local lock_timeout = '" + std::to_string(patience_.lock_timeout.count()) +
                          "ms'");
        body(transaction);
      });
      return;
    } catch (const Error& error) {
      if (!error.retryable() || !session_.connection().is_open()) throw;
      if (std::chrono::steady_clock::now() > deadline) {
        throw Error(
            {doing, error.parts().cause,
             "a table stayed in use for too long: end the long transactions (pg_stat_activity shows them in "
             "xact_start), or try again when less is going on",
             Retry::kLater});
      }
      if (progress.waiting) progress.waiting("a table is in use; trying again: " + error.parts().cause);
      std::this_thread::sleep_for(pause.next());
    }
  }
}

void PostgresDefinition::execute(pqxx::work& transaction, const DefinitionPlan& plan,
                                 const Progress& progress) {
  const auto run = [&](const PlanStep& step) {
    if (progress.step && !step.object.empty()) progress.step(step);
    transaction.exec(step.sql);
  };
  for (const PlanStep& step : plan.preparation) run(step);
  for (const ChangedTable& table : plan.changed) try_out(transaction, table);
  for (const std::string& lock : plan.locks) transaction.exec0(lock);
  for (const PlanStep& step : plan.triggers) run(step);
}

// A trigger that fails makes its table's writers fail. So the code runs first on a copy of a few rows, which
// nobody sees.
void PostgresDefinition::try_out(pqxx::work& transaction, const ChangedTable& table) {
  const std::string copy = session_.schema() + ".trial";
  std::vector<std::string> script = {"create table " + copy + " as select * from " + table.relation +
                                     " limit 3"};
  for (std::size_t i = 0; i < table.functions.size(); ++i) {
    const TriggerEvent event = kTriggerEvents[i];
    script.push_back(create_trigger_sql(event_name(event), copy, table.functions[i], event));
  }
  if (!table.has_expressions) {
    script.push_back("insert into " + copy +
                     " select from generate_series(1, 2) where not exists (select from " + copy + ")");
  }
  const std::string set = " set " + table.column + " = " + table.column;
  const std::string first = " where ctid = (select min(ctid) from " + copy + ")";
  script.push_back("insert into " + copy + " select * from " + copy + " limit 1");
  script.push_back("insert into " + copy + " select * from " + copy);
  script.push_back("update " + copy + set + first);
  script.push_back("update " + copy + set);
  script.push_back("delete from " + copy + first);
  script.push_back("delete from " + copy);
  script.push_back("truncate " + copy);
  const std::optional<Complaint> complaint = complaint_about(transaction, script);
  if (complaint) {
    throw Error({"trying the triggers of " + table.relation + " on a copy of a few rows", complaint->message,
                 "an expression in `row` must work for every row of the table"});
  }
}

std::vector<std::string> PostgresDefinition::grants(const std::string& role) {
  std::vector<std::string> statements;
  translating_postgres_errors("listing privileges", [&] {
    pqxx::work transaction(session_.connection());
    const PipelineDesign design = design_pipeline(transaction, config_);
    refuse_faults(design);
    statements = grants_for_run(transaction, session_, design, role);
  });
  return statements;
}

}  // namespace lockstep
