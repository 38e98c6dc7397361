// Runs the simulation for many seeds, or tells one run event by event. scripts/simulate --help has the rest.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include "tests/proof/simulation/simulation.h"

namespace lockstep::simulation {
namespace {

// More say no more.
constexpr int kMostFindings = 10;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 100;
  int seconds = 30;
  int for_seconds = 0;  // 0: as many as `seeds`
  bool twice = false;
  bool tells_all = false;
};

int run(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  double simulated = 0;
  std::int64_t deaths = 0;
  std::int64_t commits = 0;
  int findings = 0;
  const std::uint64_t first = arguments.seed != 0 ? arguments.seed : std::random_device()();
  std::uint64_t seeds = 0;
  const auto is_over = [&] {
    if (findings >= kMostFindings) return true;
    if (arguments.for_seconds == 0) return seeds >= arguments.seeds;
    return std::chrono::steady_clock::now() - begin >= std::chrono::seconds(arguments.for_seconds);
  };
  for (std::uint64_t seed = first; !is_over(); ++seed, ++seeds) {
    const Options options{
        .seed = seed, .load = std::chrono::seconds(arguments.seconds), .tells_all = arguments.tells_all};
    const Outcome outcome = Simulation(options).run();
    simulated += std::chrono::duration<double>(outcome.simulated).count();
    deaths += outcome.deaths;
    commits += outcome.commits;
    if (!outcome.finding.empty()) {
      ++findings;
      if (!arguments.tells_all) {
        for (const std::string& line : outcome.log) std::printf("%s\n", line.c_str());
      }
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), outcome.finding.c_str());
    }
    if (arguments.twice && Simulation(options).run().hash != outcome.hash) {
      ++findings;
      std::printf("seed %llu: the second run is another one\n", static_cast<unsigned long long>(seed));
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%llu seeds from %llu: %.0f simulated seconds in %.1f s (%.0f a second), %lld commits, %lld deaths, "
      "%d findings\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(first), simulated, took.count(),
      simulated / took.count(), static_cast<long long>(commits), static_cast<long long>(deaths), findings);
  return findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lockstep::simulation

int main(int argc, char** argv) {
  lockstep::simulation::Arguments arguments;
  CLI::App app("Runs the replication under simulated faults; see scripts/simulate --help");
  app.add_option("--seed", arguments.seed, "The first seed; 0: another one each time");
  CLI::Option* const seeds = app.add_option("--seeds", arguments.seeds, "How many");
  app.add_option("--for", arguments.for_seconds, "As many as fit into so many seconds")->excludes(seeds);
  app.add_option("--seconds", arguments.seconds, "Of load, in each run");
  app.add_flag("--twice", arguments.twice, "Run each seed twice, and compare the events");
  app.add_flag("--log", arguments.tells_all, "Print each event");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return lockstep::simulation::run(arguments);
}
