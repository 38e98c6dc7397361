#include <set>

#include "replicator/source/postgres/define/plan.h"

namespace lockstep {

using Action = PlanStep::Action;

DefinitionPlan make_removal_plan(pqxx::work& transaction, const PostgresSession& session,
                                 const std::string& pipeline, const AppliedObjects& applied) {
  DefinitionPlan plan;
  if (!applied.pipeline) return plan;
  const std::string prefix = trigger_function_prefix(*applied.pipeline);
  std::set<std::string> tables;
  for (const AppliedTrigger& trigger : applied.triggers) {
    if (!trigger.function.starts_with(prefix)) continue;
    if (tables.insert(trigger.table).second) {
      plan.locks.push_back("lock table only " + trigger.table + " in access exclusive mode");
    }
    plan.triggers.push_back({Action::kDrop, "trigger " + trigger.quoted_name + " on " + trigger.table, "",
                             "drop trigger " + trigger.quoted_name + " on " + trigger.table});
  }
  if (applied.pipelines == 1) {
    plan.triggers.push_back({Action::kDrop, "schema " + session.schema(), "with everything in it",
                             "drop schema " + session.schema() + " cascade"});
    return plan;
  }
  for (const auto& [function, code] : applied.functions) {
    const std::string name = session.schema() + "." + function;
    const bool is_ours = function.starts_with(prefix) ||
                         (function.starts_with("resolve_") && !applied.resolvers_of_others.contains(name));
    if (!is_ours) continue;
    const std::string signature = name + "(" + code.arguments + ")";
    plan.triggers.push_back({Action::kDrop, "function " + signature, "", "drop function " + signature});
  }
  plan.triggers.push_back(
      {Action::kDrop, "pipeline " + pipeline, "with its checkpoint, indices and dead letters",
       session.sql("delete from {schema}.pipeline where name = ") + transaction.quote(pipeline)});
  return plan;
}

}  // namespace lockstep
