// What it takes to check and to apply a configuration of many tables. The counted form, which says the same
// on a busy machine, is tests/integration/postgres_many_tables_test.cc.
#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/many_tables.h"
#include "tests/bench/support/server_cpu.h"

namespace lockstep::benchmarks {
namespace {

void run(const Parameters& parameters, Report& report) {
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    support::PostgresDatabase database;
    support::PipelineUnderTest pipeline(database);
    add_many_tables(pipeline, parameters["tables"], parameters["indices"]);
    ServerCpu cpu(database);
    const auto measure = [&](const std::string& name, const std::string& verb,
                             const std::vector<std::string>& options) {
      cpu.restart();
      const support::MeasuredRun measured = support::measured_run(pipeline, verb, options, kPatienceForWork);
      report.add(name, "s", measured.seconds);
      report.add(name + ": CPU of lockstep", "s", measured.cpu_seconds);
      report.add(name + ": CPU of PostgreSQL", "s", cpu.postgresql());
    };
    measure("check before", "check", {});
    measure("apply", "apply", {"--yes"});
    measure("check after", "check", {});
    measure("apply of what is applied", "apply", {"--yes"});
  }
  report.target("apply", Report::Bound::kAtMost, 30);
  report.target("check after", Report::Bound::kAtMost, 10);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"definitions",
       "What it takes to check and to apply a configuration of many tables.",
       {{"rounds", 3, 1, "how often it is measured"},
        {"tables", 1'000, 20, "tracked tables, a multiple of the indices"},
        {"indices", 50, 2, "indices over them"}},
       lockstep::benchmarks::run},
      argc, argv);
}
