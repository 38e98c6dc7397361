#include "tests/bench/support/change_cost.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "tests/bench/support/server_cpu.h"
#include "tests/support/eventually.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

}  // namespace

std::int64_t operations(const support::ElasticsearchIndex& index) {
  return index.server()
      .expect("GET", "/" + index.alias() + "/_stats/indexing")
      .at("_all")
      .at("primaries")
      .at("indexing")
      .at("index_total")
      .get<std::int64_t>();
}

void wait_for_operations(const support::ElasticsearchIndex& index, std::int64_t count) {
  if (!support::wait_until([&] { return operations(index) >= count; }, 10min, 1ms)) {
    throw std::runtime_error("changes did not arrive: " + std::to_string(operations(index)) +
                             " operations of " + std::to_string(count));
  }
}

void report_change_cost(BlogWork& work, const support::Program& program, const ChangeCostSizes& sizes,
                        const std::string& where, Report& report) {
  Probe probe(work.database(), work.index());
  const auto change = [&](int i) { return work.change_of_title(i); };
  probe.changes(std::min(20, sizes.samples), 0ms, change);
  ServerCpu cpu(work.database());
  const double before = support::cpu_seconds(program.pid());
  report.add_distribution("one change, " + where, "ms", probe.changes(sizes.samples, 0ms, change));
  const double to_each = 1e6 / sizes.samples;
  report.add("one change: CPU of lockstep, " + where, "µs",
             (support::cpu_seconds(program.pid()) - before) * to_each);
  report.add("one change: CPU of PostgreSQL, " + where, "µs", cpu.postgresql() * to_each);

  const std::int64_t rows = std::min(sizes.batch, work.last_loaded_post());
  for (int i = 0; i < sizes.batches; ++i) {
    const std::int64_t done = operations(work.index());
    work.database().execute("update blog.posts set title = title || '.' where id <= " + std::to_string(rows));
    const auto begin = Clock::now();
    wait_for_operations(work.index(), done + rows);
    report.add("a transaction of " + std::to_string(rows) + " rows, " + where, "ms",
               std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
}

}  // namespace lockstep::benchmarks
