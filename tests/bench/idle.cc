// What a pipeline costs while nothing changes.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/server_cpu.h"

namespace lockstep::benchmarks {
namespace {

// How often the threads of a process were given a CPU. While nothing happens that is how often they woke up.
std::int64_t turns_on_cpu(std::int64_t pid) {
  std::int64_t turns = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::ifstream schedule(thread.path() / "schedstat");
    std::int64_t running = 0, waiting = 0, times = 0;
    schedule >> running >> waiting >> times;
    turns += times;
  }
  return turns;
}

std::int64_t turns_on_cpu_of_backends(support::PostgresDatabase& database) {
  std::int64_t turns = 0;
  for (const pqxx::row& row :
       database.query("select pid from pg_stat_activity where datname = current_database() "
                      "and application_name like 'lockstep %'"))
    turns += turns_on_cpu(row[0].as<std::int64_t>());
  return turns;
}

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
    const std::int64_t turns_before = turns_on_cpu(program->pid());
    const std::int64_t backends_turns_before = turns_on_cpu_of_backends(work.database());
    const double before = support::cpu_seconds(program->pid());
    cpu.restart();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    const double percent = 100.0 / static_cast<double>(seconds);
    const double lockstep = (support::cpu_seconds(program->pid()) - before) * percent;
    const double postgresql = cpu.postgresql() * percent;
    report.add("lockstep, " + part, "% of a core", lockstep);
    report.add("PostgreSQL, " + part, "% of a core", postgresql);
    report.add("together, " + part, "% of a core", lockstep + postgresql);
    report.target("together, " + part, Report::Bound::kAtMost, 0.5);
    const auto in_a_second = [&](std::int64_t turns) {
      return static_cast<double>(turns) / static_cast<double>(seconds);
    };
    report.add("wake-ups of lockstep, " + part, "a second",
               in_a_second(turns_on_cpu(program->pid()) - turns_before));
    report.add("wake-ups of its sessions, " + part, "a second",
               in_a_second(turns_on_cpu_of_backends(work.database()) - backends_turns_before));
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
