// The part of a plan about code: functions, triggers, and the locks that triggers need.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/source/postgres/define/function_code.h"
#include "replicator/source/postgres/define/plan.h"
#include "replicator/source/postgres/define/triggers.h"

namespace lockstep {

class CodePlanner {
 public:
  /// `capture_ids` are the ids of the design's captures. Adds its steps to `plan`. REQUIRES: everything
  /// outlives this.
  CodePlanner(const PlanInput& input, int pipeline, const std::vector<int>& capture_ids,
              DefinitionPlan& plan);

  /// Makes the functions that lead from values to documents.
  void plan_resolvers();

  /// Makes the trigger functions of the tracked tables, and finds which triggers are missing.
  void plan_tables();

  /// Whether a trigger of a tracked table was missing or disabled, so that changes may have been missed.
  /// REQUIRES: plan_tables() was called.
  bool has_gap(const std::string& table) const { return gaps_.contains(table); }

  /// Drops the triggers that are no longer wanted, and makes the missing ones. REQUIRES: as has_gap().
  void plan_triggers();

  /// Drops the functions that are no longer wanted. REQUIRES: as has_gap(), and plan_resolvers() was called.
  void drop_functions();

 private:
  void plan_table(const TableDesign& table);
  /// The parts whose triggers the table's own function makes (triggers.h, T6): those that came since the
  /// last apply. REQUIRES: the other tables have not all been planned, or it has this table's parts anyway.
  std::set<unsigned> parts_for_function(const TableDesign& table) const;
  static bool is_left_to_function(const TableDesign& table, const TableMember& member);
  void lock_for_function(const TableMember& member);
  bool has_trigger_of_another_function(const std::string& relation, unsigned part) const;
  void plan_parts(const TableDesign& table, const std::string& function, bool is_followed,
                  const std::set<unsigned>& for_function);
  void forget_parts();
  const std::map<unsigned, std::string>& known_parts(const std::string& relation) const;
  /// Whether the function is new or changed.
  bool plan_function(const FunctionCode& function, const std::string& purpose);
  void plan_trigger(const TableDesign& table, unsigned oid, const std::string& relation, TriggerEvent event,
                    const std::string& function);
  void lock(const std::string& relation, const std::string& mode);

  const PlanInput& in_;
  const int pipeline_;
  const std::vector<int>& capture_ids_;
  const std::string& schema_;  // quoted
  DefinitionPlan& plan_;
  std::set<std::string> wanted_functions_;
  std::set<std::pair<unsigned, std::string>> wanted_triggers_;  // table and name
  std::set<std::string> gaps_;
  std::set<unsigned> parted_;                 // tables that are no parts any more
  std::map<std::string, std::string> locks_;  // mode, by table
  std::vector<PlanStep> creations_;
};

/// Whether `apply` has made a function for this pipeline, and for no other.
bool is_function_of(const AppliedObjects& applied, int pipeline, const std::string& function,
                    const std::string& schema);

/// `schema` is quoted.
PlanStep drop_function(const std::string& schema, const std::string& name, const AppliedFunction& function);
PlanStep drop_trigger(const AppliedTrigger& trigger);

/// `lock table …` for one table without its parts.
std::string lock_table(const std::string& relation, const std::string& mode);

}  // namespace lockstep
