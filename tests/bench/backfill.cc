// How fast an index is filled from its view, beside what Elasticsearch takes at all: the same documents,
// ready made, on the same server, in turns.
#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/ceiling.h"
#include "tests/bench/support/server_cpu.h"

namespace lockstep::benchmarks {
namespace {

void run(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  Ceiling ceiling(BlogWork::mapping(), work.ready_documents());
  const BulkShape shape = ceiling.find_best(report);
  ServerCpu cpu(work.database());
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    cpu.restart();
    const double ready_made = ceiling.fill(shape);
    report.add("ceiling", "documents/s", ready_made);
    report.add("ceiling: CPU of Elasticsearch", "s", cpu.elasticsearch());
    work.begin_anew();
    let_merges_end();
    cpu.restart();
    const support::MeasuredRun filled = work.catch_up();
    const double rate = static_cast<double>(work.posts()) / filled.seconds;
    report.add("backfill", "documents/s", rate);
    report.add("share of the ceiling", "", rate / ready_made);
    report.add("CPU of lockstep", "s", filled.cpu_seconds);
    report.add("CPU of PostgreSQL", "s", cpu.postgresql());
    report.add("CPU of Elasticsearch", "s", cpu.elasticsearch());
    report.add("peak memory of lockstep", "MiB", filled.peak_memory);
  }
  work.require_equal();
  report.control("ceiling");
  report.target("share of the ceiling", Report::Bound::kAtLeast, 0.85);
  report.target("peak memory of lockstep", Report::Bound::kAtMost, 32);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark({"backfill",
                                          "Fills an index from a view of two tables, beside the ceiling.",
                                          {{"rounds", 5, 1, "how often each is measured, in turns"},
                                           {"documents", 200'000, 5'000, "rows of the view"}},
                                          lockstep::benchmarks::run},
                                         argc, argv);
}
