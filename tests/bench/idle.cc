// What a pipeline costs while nothing changes.
#include <chrono>
#include <string>
#include <thread>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/server_cpu.h"

namespace lockstep::benchmarks {
namespace {

void run(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  work.begin_anew();
  work.catch_up();
  const auto program = work.follow();
  let_merges_end();
  ServerCpu cpu(work.database());
  const auto seconds = parameters["seconds"];
  for (const std::string part : {"at first", "later"}) {
    if (part == "later") std::this_thread::sleep_for(std::chrono::seconds(parameters["pause"]));
    const double before = support::cpu_seconds(program->pid());
    cpu.restart();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    const double percent = 100.0 / static_cast<double>(seconds);
    report.add("lockstep, " + part, "% of a core", (support::cpu_seconds(program->pid()) - before) * percent);
    report.add("PostgreSQL, " + part, "% of a core", cpu.postgresql() * percent);
  }
  report.add("peak memory of lockstep", "MiB", support::peak_memory(program->pid()));
  report.target("peak memory of lockstep", Report::Bound::kAtMost, 32);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark({"idle",
                                          "What `lockstep run` costs while nothing changes.",
                                          {{"documents", 10'000, 1'000, "rows of the view"},
                                           {"seconds", 60, 3, "each time is measured"},
                                           {"pause", 60, 0, "seconds between both"}},
                                          lockstep::benchmarks::run},
                                         argc, argv);
}
