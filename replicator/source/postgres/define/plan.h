// The difference between a configuration and a database, as statements in the order in which they must run.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/definition.h"
#include "replicator/source/postgres/define/applied.h"
#include "replicator/source/postgres/define/design.h"
#include "replicator/source/source_definition.h"

namespace lockstep {

/// A tracked table whose trigger functions are new or changed.
struct ChangedTable {
  std::string relation;
  std::string alias;                     ///< its own name, by which the expressions know it
  std::string column;                    ///< any of its columns, quoted
  std::vector<std::string> functions;    ///< quoted, in the order of kTriggerEvents
  std::vector<std::string> expressions;  ///< captures that are more than columns
  std::string check;                     ///< check_function(), quoted
  bool needs_trial = true;               ///< a row may make them fail: captures_own_types() does not hold
};

struct DefinitionPlan {
  std::vector<PlanStep> preparation;  ///< rows and functions; they lock no table of others
  std::vector<ChangedTable> changed;  ///< to be tried out after the preparation
  std::vector<std::string> locks;     ///< `lock table …` for the tables whose triggers come or go
  std::vector<PlanStep> triggers;     ///< triggers, then the removal of unneeded parts

  bool empty() const { return preparation.empty() && triggers.empty(); }
};

struct PlanInput {
  PostgresTransaction& transaction;
  std::string schema_name;  ///< not quoted
  std::string pipeline;
  const PipelineDesign& design;
  const AppliedObjects& applied;
  const std::set<std::string>& filled;  ///< SourceDefinition::note_filled()
  /// The next id of Lockstep's table "pipeline", "index" or "capture".
  std::function<int(const std::string&)> next_id;
};

/// REQUIRES: the design has no faults.
DefinitionPlan make_plan(const PlanInput& input);

/// Removes everything of a pipeline; with the last one of a schema the schema itself.
DefinitionPlan make_removal_plan(PostgresTransaction& transaction, const std::string& pipeline,
                                 const AppliedObjects& applied);

}  // namespace lockstep
