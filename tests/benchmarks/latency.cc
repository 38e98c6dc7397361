// From a commit's return until a GET by id shows it: with nothing else going on, and while two writers change
// other rows as fast as they can.
#include <chrono>

#include "tests/benchmarks/support/benchmark.h"
#include "tests/benchmarks/support/blog_work.h"
#include "tests/benchmarks/support/pgbench.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;

constexpr int kWarmUp = 20;

void run(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  work.begin_anew();
  work.catch_up();
  const auto program = work.follow();
  let_merges_end();
  Probe probe(work.database(), work.index());
  const std::chrono::milliseconds period = 1000ms / parameters["per_second"];
  const auto change = [&](int i) { return work.change_of_title(i); };
  const auto samples = static_cast<int>(parameters["samples"]);
  probe.changes(kWarmUp, period, change);
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    report.add_distribution("commit to GET, nothing else going on", "ms",
                            probe.changes(samples, period, change));
    Pgbench writers(work.database(), single_row_updates(work.last_loaded_post()), {});
    probe.changes(kWarmUp, period, change);
    report.add_distribution("commit to GET, two writers at full speed", "ms",
                            probe.changes(samples, period, change));
    report.add("the writers meanwhile", "changes/s", writers.stop());
    probe.change(change(0));  // what they wrote has been replayed
    let_merges_end();
  }
  report.add("peak memory of lockstep", "MiB", support::peak_memory(program->pid()));
  work.require_equal();
  report.target("commit to GET, nothing else going on, p50", Report::Bound::kAtMost, 6);
  report.target("commit to GET, nothing else going on, p99", Report::Bound::kAtMost, 15);
  report.target("peak memory of lockstep", Report::Bound::kAtMost, 32);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark({"latency",
                                          "How soon after its commit a change can be read by GET.",
                                          {{"rounds", 3, 1, "how often each is measured, in turns"},
                                           {"documents", 200'000, 5'000, "rows of the view"},
                                           {"samples", 400, 40, "changes in a round"},
                                           {"per_second", 20, 50, "of these changes"}},
                                          lockstep::benchmarks::run},
                                         argc, argv);
}
