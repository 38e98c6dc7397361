// The indices of random_schema.sql: by the key itself, by a column, by a query; with joins, counts and
// routings.
#pragma once

#include <string>
#include <vector>

#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {

/// Adds them to `pipeline`; returns their purposes.
std::vector<std::string> add_random_indices(PipelineUnderTest& pipeline);

}  // namespace lockstep::support
