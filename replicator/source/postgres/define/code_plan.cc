#include "replicator/source/postgres/define/code_plan.h"

#include <algorithm>
#include <iterator>

#include "replicator/source/checksum.h"
#include "replicator/source/postgres/define/table_code.h"

namespace lockstep {
namespace {

using Action = PlanStep::Action;

// PostgreSQL's own locks: `create trigger` shuts writers out, `drop trigger` readers too.
constexpr const char* kForCreation = "share row exclusive";
constexpr const char* kForDrop = "access exclusive";

}  // namespace

CodePlanner::CodePlanner(const PlanInput& input, int pipeline, const std::vector<int>& capture_ids,
                         DefinitionPlan& plan)
    : in_(input),
      pipeline_(pipeline),
      capture_ids_(capture_ids),
      schema_(input.transaction.session().schema()),
      plan_(plan) {}

void CodePlanner::plan_resolvers() {
  for (const IndexDesign& index : in_.design.indices) {
    for (const TrackDesign& track : index.tracks) {
      const std::string resolver = resolver_name(in_.design, track);
      if (resolver.empty() || wanted_functions_.contains(resolver)) continue;
      plan_function(
          resolver_function(resolver, in_.design.captures[track.capture].value_type, track.resolver_query),
          "from changed rows of " + track.table + " to documents of " + index.alias);
    }
  }
}

void CodePlanner::plan_tables() {
  for (const auto& [name, table] : in_.design.tables) plan_table(table);
}

void CodePlanner::plan_table(const TableDesign& table) {
  const std::string& relation = table.relation.name;
  const TriggerCode code = trigger_code(in_.design, table, schema_, capture_ids_);
  const std::vector<std::string> settings = trigger_settings(in_.design, table);
  ChangedTable changed;
  changed.relation = relation;
  changed.alias = table.relation.alias;
  changed.column = table.relation.columns.front().quoted;
  changed.check = schema_ + "." + check_function_name(pipeline_, relation);
  changed.needs_trial = !captures_own_types(in_.design, table);
  const FunctionCode parts =
      parts_function(pipeline_, in_.schema_name, relation, code, parts_settings(in_.design, table));
  const bool is_followed = in_.applied.functions.contains(parts.name);
  const std::set<unsigned> for_function = is_followed ? parts_for_function(table) : std::set<unsigned>{};
  bool is_changed = false;
  for (const std::size_t capture : table.captures) {
    if (in_.design.captures[capture].is_expression)
      changed.expressions.push_back(in_.design.captures[capture].expression);
  }
  for (const TriggerEvent event : kTriggerEvents) {
    const FunctionCode function = trigger_function(pipeline_, relation, code, settings, event);
    changed.functions.push_back(schema_ + "." + function.name);
    if (plan_function(function, "writes changed rows of " + relation + " into the outbox")) is_changed = true;
    plan_trigger(table, table.relation.oid, relation, event, function.name);
    for (const TableMember& member : table.members) {
      if (member.kind == 'f') continue;
      if (for_function.contains(member.oid)) {
        wanted_triggers_.insert({member.oid, trigger_name(in_.schema_name, pipeline_, event)});
      } else {
        plan_trigger(table, member.oid, member.name, event, function.name);
      }
    }
  }
  plan_function(check_function(pipeline_, relation, code),
                "notes whether the triggers of " + relation + " still fit it");
  plan_function(parts, "follows the parts of " + relation + " as they come and go");
  plan_parts(table, schema_ + "." + parts.name + "()", is_followed, for_function);
  if (is_changed) plan_.changed.push_back(std::move(changed));
}

const std::map<unsigned, std::string>& CodePlanner::known_parts(const std::string& relation) const {
  static const std::map<unsigned, std::string> kNone;
  const auto known = in_.applied.parts.find(relation);
  return known == in_.applied.parts.end() ? kNone : known->second;
}

std::set<unsigned> CodePlanner::parts_for_function(const TableDesign& table) const {
  const auto& known = known_parts(table.relation.name);
  const std::string trigger = trigger_name(in_.schema_name, pipeline_, kTriggerEvents[0]);
  std::set<unsigned> parts;
  for (const TableMember& member : table.members) {
    // A part of two tracked tables has the triggers of the other one already.
    if (known.contains(member.oid) || wanted_triggers_.contains({member.oid, trigger})) continue;
    if (has_trigger_of_another_function(table.relation.name, member.oid)) continue;
    if (is_left_to_function(table, member)) parts.insert(member.oid);
  }
  return parts;
}

bool CodePlanner::is_left_to_function(const TableDesign& table, const TableMember& member) {
  return member.kind == 'f' || member.owner == table.relation.owner;
}

// With the patience of `apply`, since the function leaves out tables that another session holds.
void CodePlanner::lock_for_function(const TableMember& member) {
  if (member.kind != 'f') lock(member.name, kForCreation);
}

// Left from a table that it was a part of, or disabled: plan_trigger() replaces it.
bool CodePlanner::has_trigger_of_another_function(const std::string& relation, unsigned part) const {
  return std::any_of(
      in_.applied.triggers.begin(), in_.applied.triggers.end(), [&](const AppliedTrigger& applied) {
        if (applied.table_oid != part) return false;
        for (const TriggerEvent event : kTriggerEvents) {
          if (applied.name != trigger_name(in_.schema_name, pipeline_, event)) continue;
          return !applied.as_made || applied.function != trigger_function_name(pipeline_, relation, event);
        }
        return false;
      });
}

void CodePlanner::plan_parts(const TableDesign& table, const std::string& function, bool is_followed,
                             const std::set<unsigned>& for_function) {
  const std::string& relation = table.relation.name;
  const std::string of_relation =
      "pipeline = " + std::to_string(pipeline_) + " and relation = " + in_.transaction.quote(relation);
  std::map<unsigned, std::string> gone = known_parts(relation);
  std::string noted;
  std::string changes;
  for (const TableMember& member : table.members) {
    const bool is_known = gone.erase(member.oid) > 0 && is_followed;
    const bool has_moved = in_.applied.moved_parts.contains({relation, member.oid});
    if (is_known && has_moved && !is_left_to_function(table, member)) gaps_.insert(relation);
    if (for_function.contains(member.oid)) {
      changes += (changes.empty() ? "" : ", ") + member.name + " is new";
      lock_for_function(member);
    } else if (is_known && has_moved && is_left_to_function(table, member)) {
      changes +=
          (changes.empty() ? "" : ", ") + member.name + " is below other tables, or was attached again";
      lock_for_function(member);
    } else if (!is_known || has_moved) {
      noted += (noted.empty() ? "" : ", ") + std::string("(") + std::to_string(pipeline_) + ", " +
               in_.transaction.quote(relation) + ", " + std::to_string(member.oid) + "::oid, " +
               in_.transaction.quote(member.name) + ")";
    }
  }
  if (!noted.empty()) {
    const std::string table_name = schema_ + ".part";
    plan_.preparation.push_back(
        {Action::kCreate, "list of the parts of " + relation, "so that those that come and go are noticed",
         (is_followed ? "" : "delete from " + table_name + " where " + of_relation + ";\n") + "insert into " +
             table_name + " (pipeline, relation, table_oid, name, above) select v.*, " + schema_ +
             ".tables_above(v.part) from (values " + noted +
             ") as v(pipeline, relation, part, name) on conflict (pipeline, relation, table_oid) do update "
             "set name "
             "= excluded.name, above = excluded.above"});
  }
  if (!is_followed) return;
  for (const auto& [oid, name] : gone) {
    parted_.insert(oid);
    changes += (changes.empty() ? "" : ", ") + name + " has left";
  }
  if (changes.empty()) return;
  plan_.triggers.push_back({Action::kChange, "parts of " + relation,
                            changes + ": triggers, and the documents of its rows", "select " + function});
}

void CodePlanner::forget_parts() {
  for (const auto& [relation, parts] : in_.applied.parts) {
    if (in_.design.tables.contains(relation)) continue;
    plan_.triggers.push_back({Action::kDrop, "list of the parts of " + relation, "",
                              "delete from " + schema_ +
                                  ".part where pipeline = " + std::to_string(pipeline_) +
                                  " and relation = " + in_.transaction.quote(relation)});
  }
}

bool CodePlanner::plan_function(const FunctionCode& function, const std::string& purpose) {
  wanted_functions_.insert(function.name);
  const auto known = in_.applied.functions.find(function.name);
  const bool is_new = known == in_.applied.functions.end();
  if (!is_new && is_as_made(known->second, function)) return false;
  plan_.preparation.push_back({is_new ? Action::kCreate : Action::kChange,
                               "function " + signature(schema_, function), purpose,
                               create_function_sql(schema_, function)});
  return true;
}

void CodePlanner::plan_trigger(const TableDesign& table, unsigned oid, const std::string& relation,
                               TriggerEvent event, const std::string& function) {
  std::string trigger = trigger_name(in_.schema_name, pipeline_, event);
  // A table can be a part of two tracked ones.
  if (!wanted_triggers_.insert({oid, trigger}).second) {
    trigger += "_" + checksum(table.relation.name).substr(8);
    wanted_triggers_.insert({oid, trigger});
  }
  const auto known = std::find_if(
      in_.applied.triggers.begin(), in_.applied.triggers.end(),
      [&](const AppliedTrigger& applied) { return applied.table_oid == oid && applied.name == trigger; });
  const bool is_new = known == in_.applied.triggers.end();
  if (!is_new && known->function == function && known->type == event_type(event) && known->as_made) return;
  gaps_.insert(table.relation.name);
  std::string sql;
  if (!is_new) sql = "drop trigger " + trigger + " on " + relation + ";\n";
  sql += create_always_trigger_sql(trigger, relation, schema_ + "." + function, event);
  lock(relation, is_new ? kForCreation : kForDrop);
  creations_.push_back({is_new ? Action::kCreate : Action::kChange, "trigger " + trigger + " on " + relation,
                        is_new ? "" : "it was changed or disabled", std::move(sql)});
}

void CodePlanner::lock(const std::string& relation, const std::string& mode) {
  std::string& known = locks_[relation];
  if (known != kForDrop) known = mode;
}

void CodePlanner::plan_triggers() {
  forget_parts();
  for (const AppliedTrigger& trigger : in_.applied.triggers) {
    if (!trigger.function.starts_with(trigger_function_prefix(pipeline_))) continue;
    if (wanted_triggers_.contains({trigger.table_oid, trigger.name})) continue;
    lock(trigger.table, kForDrop);
    plan_.triggers.push_back(drop_trigger(trigger));
    // The function of the table that it was a part of may have done so before.
    if (parted_.contains(trigger.table_oid))
      plan_.triggers.back().sql = "drop trigger if exists " + trigger.quoted_name + " on " + trigger.table;
  }
  plan_.triggers.insert(plan_.triggers.end(), std::make_move_iterator(creations_.begin()),
                        std::make_move_iterator(creations_.end()));
  for (const auto& [relation, mode] : locks_) plan_.locks.push_back(lock_table(relation, mode));
}

void CodePlanner::drop_functions() {
  for (const auto& [name, function] : in_.applied.functions) {
    if (wanted_functions_.contains(name)) continue;
    if (!is_function_of(in_.applied, pipeline_, name, schema_)) continue;
    plan_.triggers.push_back(drop_function(schema_, name, function));
  }
}

bool is_function_of(const AppliedObjects& applied, int pipeline, const std::string& function,
                    const std::string& schema) {
  if (function.starts_with("resolve_")) return !applied.resolvers_of_others.contains(schema + "." + function);
  return function.starts_with(trigger_function_prefix(pipeline));
}

PlanStep drop_function(const std::string& schema, const std::string& name, const AppliedFunction& function) {
  const std::string object = "function " + schema + "." + name + "(" + function.arguments + ")";
  return {Action::kDrop, object, "", "drop " + object};
}

PlanStep drop_trigger(const AppliedTrigger& trigger) {
  const std::string object = "trigger " + trigger.quoted_name + " on " + trigger.table;
  return {Action::kDrop, object, "", "drop " + object};
}

std::string lock_table(const std::string& relation, const std::string& mode) {
  return "lock table only " + relation + " in " + mode + " mode";
}

}  // namespace lockstep
