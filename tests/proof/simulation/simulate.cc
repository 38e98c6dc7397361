// Runs the simulation for many seeds, or tells one run event by event. scripts/simulate --help has the rest.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <system_error>

#include "tests/proof/simulation/simulation.h"

namespace lockstep::simulation {
namespace {

// More say no more.
constexpr int kMostFindings = 10;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 100;
  int seconds = 30;
  bool reindexes = false;
  int for_seconds = 0;  // 0: as many as `seeds`
  bool twice = false;
  bool tells_all = false;
};

/// What a run tells its parent.
struct Summary {
  double simulated = 0;
  std::int64_t commits = 0;
  int deaths = 0;
  std::uint64_t hash = 0;
  bool has_finding = false;
};

Summary run_here(const Options& options) {
  const Outcome outcome = Simulation(options).run();
  if (!outcome.finding.empty()) {
    if (!options.tells_all) {
      for (const std::string& line : outcome.log) std::printf("%s\n", line.c_str());
    }
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(options.seed), outcome.finding.c_str());
  }
  return {std::chrono::duration<double>(outcome.simulated).count(), outcome.commits, outcome.deaths,
          outcome.hash, !outcome.finding.empty()};
}

/// In a process of its own: what a killed process of the program had is not freed (fibers.h), and nothing
/// that the program keeps for the time of a process comes into the next run. None: it has crashed.
std::optional<Summary> run_apart(const Options& options) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    const Summary summary = run_here(options);
    std::fflush(stdout);
    const bool is_told = ::write(ends[1], &summary, sizeof summary) == sizeof summary;
    ::_exit(is_told ? 0 : 1);
  }
  ::close(ends[1]);
  Summary summary;
  const bool is_whole = ::read(ends[0], &summary, sizeof summary) == sizeof summary;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return is_whole ? std::optional(summary) : std::nullopt;
}

int run(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  Summary all;
  int findings = 0;
  const std::uint64_t first = arguments.seed != 0 ? arguments.seed : std::random_device()();
  std::uint64_t seeds = 0;
  const auto is_over = [&] {
    if (findings >= kMostFindings) return true;
    if (arguments.for_seconds == 0) return seeds >= arguments.seeds;
    return std::chrono::steady_clock::now() - begin >= std::chrono::seconds(arguments.for_seconds);
  };
  for (std::uint64_t seed = first; !is_over(); ++seed, ++seeds) {
    const Options options{.seed = seed,
                          .load = std::chrono::seconds(arguments.seconds),
                          .reindexes = arguments.reindexes,
                          .tells_all = arguments.tells_all};
    const std::optional<Summary> summary = run_apart(options);
    if (!summary) {
      ++findings;
      std::printf("seed %llu: the run has crashed\n", static_cast<unsigned long long>(seed));
      continue;
    }
    all.simulated += summary->simulated;
    all.commits += summary->commits;
    all.deaths += summary->deaths;
    if (summary->has_finding) ++findings;
    if (!arguments.twice) continue;
    if (const std::optional<Summary> again = run_apart(options); !again || again->hash != summary->hash) {
      ++findings;
      std::printf("seed %llu: the second run is another one\n", static_cast<unsigned long long>(seed));
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%llu seeds from %llu: %.0f simulated seconds in %.1f s (%.0f a second), %lld commits, %d deaths, "
      "%d findings\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(first), all.simulated,
      took.count(), all.simulated / took.count(), static_cast<long long>(all.commits), all.deaths, findings);
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
  app.add_flag("--reindexes", arguments.reindexes, "With an operator who reindexes");
  app.add_flag("--twice", arguments.twice, "Run each seed twice, and compare the events");
  app.add_flag("--log", arguments.tells_all, "Print each event");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return lockstep::simulation::run(arguments);
}
