// From a table's captures to the code of its triggers.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres/define/design.h"
#include "replicator/source/postgres/define/triggers.h"

namespace lockstep {

/// `capture_ids` are the ids of the design's captures; `schema` is Lockstep's, quoted.
TriggerCode trigger_code(const PipelineDesign& design, const TableDesign& table, const std::string& schema,
                         const std::vector<int>& capture_ids);

/// Whether the triggers take nothing but columns of the server's own types, whose texts no row can make fail.
bool captures_own_types(const PipelineDesign& design, const TableDesign& table);

/// The settings that a table's trigger functions run with (FunctionCode::settings). The first costs a writer
/// an eighth of a single-row update's cost, each other one a fortieth, so there are none if none could matter
/// (triggers.h, T4).
std::vector<std::string> trigger_settings(const PipelineDesign& design, const TableDesign& table);

/// Those of the function that follows the table's parts (triggers.h, T6).
std::vector<std::string> parts_settings(const PipelineDesign& design, const TableDesign& table);

}  // namespace lockstep
