// Views over many small tables: what it costs to define and to follow them, not their rows.
#pragma once

#include <cstdint>

#include "tests/support/pipeline_under_test.h"

namespace lockstep::benchmarks {

/// Makes `tables` tables in the schema "many", and over them `indices` views, each of one row a parent with
/// the names of its children; adds the indices to the pipeline. REQUIRES: `tables` is a multiple of
/// `indices`.
void add_many_tables(support::PipelineUnderTest& pipeline, std::int64_t tables, std::int64_t indices);

}  // namespace lockstep::benchmarks
