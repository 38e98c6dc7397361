#include <set>

#include "replicator/source/postgres/define/code_plan.h"
#include "replicator/source/postgres/define/plan.h"

namespace lockstep {

using Action = PlanStep::Action;

DefinitionPlan make_removal_plan(PostgresTransaction& transaction, const std::string& pipeline,
                                 const AppliedObjects& applied) {
  DefinitionPlan plan;
  if (!applied.pipeline) return plan;
  const PostgresSession& session = transaction.session();
  const std::string& schema = session.schema();
  std::set<std::string> tables;
  for (const AppliedTrigger& trigger : applied.triggers) {
    if (!trigger.function.starts_with(trigger_function_prefix(*applied.pipeline))) continue;
    if (tables.insert(trigger.table).second)
      plan.locks.push_back(lock_table(trigger.table, "access exclusive"));
    plan.triggers.push_back(drop_trigger(trigger));
  }
  if (applied.pipelines == 1) {
    plan.triggers.push_back(
        {Action::kDrop, "schema " + schema, "with everything in it", "drop schema " + schema + " cascade"});
    return plan;
  }
  for (const auto& [name, function] : applied.functions) {
    if (!is_function_of(applied, *applied.pipeline, name, schema)) continue;
    plan.triggers.push_back(drop_function(schema, name, function));
  }
  plan.triggers.push_back(
      {Action::kDrop, "pipeline " + pipeline, "with its checkpoint, indices and dead letters",
       session.sql("delete from {schema}.pipeline where name = ") + transaction.quote(pipeline)});
  return plan;
}

}  // namespace lockstep
