// The difference between a configuration and a file, as statements in the order in which they must run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "replicator/source/definition.h"
#include "replicator/source/source_definition.h"
#include "replicator/source/sqlite/define/applied.h"
#include "replicator/source/sqlite/define/design.h"

namespace lockstep {

struct SqlitePlanInput {
  SqliteConnection& connection;
  const std::string& pipeline;
  const SqlitePipelineDesign& design;
  const SqliteApplied& applied;
  const std::set<std::string>& filled;  ///< SourceDefinition::note_filled()
};

/// REQUIRES: the design has no faults.
std::vector<PlanStep> make_plan(const SqlitePlanInput& input);

/// Removes everything of a pipeline; with the last one Lockstep's tables.
std::vector<PlanStep> make_removal_plan(SqliteConnection& connection, const std::string& pipeline,
                                        const SqliteApplied& applied);

PlanStep create_trigger(const SqliteTrigger& trigger);
PlanStep drop_trigger(const std::string& name, const SqliteAppliedTrigger& trigger);

}  // namespace lockstep
