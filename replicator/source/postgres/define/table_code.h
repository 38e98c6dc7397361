// From what is to be captured of a table to the code of its triggers.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres/define/design.h"
#include "replicator/source/postgres/define/triggers.h"

namespace lockstep {

/// The search_path of every function that `apply` creates, as pg_proc.proconfig has it.
inline constexpr const char* kSearchPath = "search_path=pg_catalog, pg_temp";

/// `capture_ids` are those of the design's captures; `schema` is lockstep's, quoted.
TriggerCode trigger_code(const PipelineDesign& design, const TableDesign& table, const std::string& schema,
                         const std::vector<int>& capture_ids);

/// What the trigger functions of a table set while they run: "name=value" as pg_proc.proconfig has it, in
/// order.
std::vector<std::string> trigger_settings(const PipelineDesign& design, const TableDesign& table);

/// " set name = 'value'" for each.
std::string set_clauses(const std::vector<std::string>& settings);

/// One a line.
std::string lines_of(const std::vector<std::string>& settings);

}  // namespace lockstep
