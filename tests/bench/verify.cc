// How long it takes to prove that an index equals its view.
#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/server_cpu.h"

namespace lockstep::benchmarks {
namespace {

void run(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  work.begin_anew();
  work.catch_up();
  let_merges_end();
  ServerCpu cpu(work.database());
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    cpu.restart();
    const support::MeasuredRun verified =
        support::measured_run(work.pipeline(), "verify", {}, kPatienceForWork);
    report.add("verify", "s", verified.seconds);
    report.add("documents compared", "documents/s", static_cast<double>(work.posts()) / verified.seconds);
    report.add("CPU of lockstep", "s", verified.cpu_seconds);
    report.add("CPU of PostgreSQL", "s", cpu.postgresql());
    report.add("CPU of Elasticsearch", "s", cpu.elasticsearch());
    report.add("peak memory of lockstep", "MiB", verified.peak_memory);
  }
  report.target("verify", Report::Bound::kAtMost, 30);
  report.target("peak memory of lockstep", Report::Bound::kAtMost, 32);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"verify",
       "Compares an index with its view, document by document.",
       {{"rounds", 3, 1, "how often it is measured"}, {"documents", 1'000'000, 5'000, "rows of the view"}},
       lockstep::benchmarks::run},
      argc, argv);
}
