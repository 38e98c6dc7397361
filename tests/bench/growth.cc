// What a change costs when there are ten, a hundred, a thousand times as many documents.
#include <csignal>
#include <string>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/change_cost.h"

namespace lockstep::benchmarks {
namespace {

void measure(std::int64_t documents, const ChangeCostSizes& sizes, Report& report) {
  BlogWork work(documents);
  work.begin_anew();
  const support::MeasuredRun filled = work.catch_up();
  const std::string where = std::to_string(documents) + " documents";
  report.add("backfill, " + where, "documents/s", static_cast<double>(documents) / filled.seconds);
  report.add("backfill: peak memory, " + where, "MiB", filled.peak_memory);
  const auto program = work.follow();
  let_merges_end();
  report_change_cost(work, *program, sizes, where, report);
  report.add("following: peak memory, " + where, "MiB", support::peak_memory(program->pid()));
  program->signal(SIGTERM);
  program->wait(support::kPatience);
  work.require_equal();
}

void run(const Parameters& parameters, Report& report) {
  const ChangeCostSizes sizes{.samples = static_cast<int>(parameters["samples"]),
                              .batch = parameters["batch"]};
  for (std::int64_t n = parameters["smallest"]; n <= parameters["largest"]; n *= 10)
    measure(n, sizes, report);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"growth",
       "What a change costs beside more and more documents.",
       {{"smallest", 10'000, 1'000, "documents; each time ten times as many"},
        {"largest", 1'000'000, 10'000, "documents"},
        {"samples", 200, 40, "single changes at each size"},
        {"batch", 1'000, 200, "rows of a transaction"}},
       lockstep::benchmarks::run},
      argc, argv);
}
