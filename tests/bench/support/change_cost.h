// What one change costs, and a transaction of many: the measure of what may grow with size and age.
#pragma once

#include <string>

#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/report.h"

namespace lockstep::benchmarks {

struct ChangeCostSizes {
  int samples = 200;           ///< single changes, one after the other
  std::int64_t batch = 1'000;  ///< rows of a transaction
  int batches = 5;
};

/// Adds what it measures to `report`, with `where` (as in "10,000 documents") behind each name: a single
/// change from commit to GET, the CPU of lockstep and of PostgreSQL for it, and a transaction from commit
/// until its last document is there. REQUIRES: `program` is what work.follow() returned.
void report_change_cost(BlogWork& work, const support::Program& program, const ChangeCostSizes& sizes,
                        const std::string& where, Report& report);

/// Operations that Elasticsearch has done on an index, all its shards' primaries together.
std::int64_t operations(const support::ElasticsearchIndex& index);

/// Waits until there have been so many. Throws std::runtime_error when that takes more than ten minutes.
void wait_for_operations(const support::ElasticsearchIndex& index, std::int64_t count);

}  // namespace lockstep::benchmarks
