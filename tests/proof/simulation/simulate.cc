// Runs the simulation for many seeds, prints one run event by event, or makes a run that fails shorter.
// scripts/simulate --help has the rest.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tests/proof/simulation/shrink.h"
#include "tests/proof/simulation/simulation.h"

namespace lockstep::simulation {
namespace {

// A run that takes so long of the machine's time goes round and round.
constexpr unsigned kMostSeconds = 120;

// Nor has one a use for so much memory.
constexpr rlim_t kMostBytes = 4'000'000'000;

// Other orders of the threads are tried, too, for events that are to fail again.
constexpr int kOrders = 4;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 100;
  int seconds = 30;
  int for_seconds = 0;  // 0: as many as `seeds`
  int findings = 10;    // more say no more
  std::string kept;     // a file of seeds
  std::vector<std::string> only;
  int order = 0;
  bool twice = false;
  bool shrinks = false;
  bool tells_all = false;
};

enum class Prints : std::uint8_t { kFindings, kNothing };

/// What a run tells its parent.
struct Report {
  struct Numbers {
    double simulated = 0;
    std::int64_t commits = 0;
    int deaths = 0;
    std::uint64_t hash = 0;
    double slowest_own = 0;
    double slowest_end = 0;
    double most_work = 0;
    double most_growth = 0;
  } numbers;
  std::string finding;
  std::string unknown;  // Outcome::unknown, with commas
  std::vector<Begun> events;
};

std::string property_of(const std::string& finding) {
  return finding.substr(0, finding.find(':'));
}

Report run_here(const Options& options, Prints prints) {
  Outcome outcome = Simulation(options).run();
  if (!outcome.finding.empty() && prints == Prints::kFindings) {
    if (!options.tells_all) {
      for (const std::string& line : outcome.log) std::printf("%s\n", line.c_str());
    }
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(options.seed), outcome.finding.c_str());
  }
  std::string unknown;
  for (const std::string& name : outcome.unknown) unknown += (unknown.empty() ? "" : ",") + name;
  return {{std::chrono::duration<double>(outcome.simulated).count(), outcome.commits, outcome.deaths,
           outcome.hash, std::chrono::duration<double>(outcome.slowest_own).count(),
           std::chrono::duration<double>(outcome.slowest_end).count(), outcome.most_work,
           static_cast<double>(outcome.most_growth)},
          std::move(outcome.finding),
          std::move(unknown),
          std::move(outcome.events)};
}

void write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t more = ::write(to, text.data() + done, text.size() - done);
    if (more <= 0) ::_exit(1);
    done += static_cast<std::size_t>(more);
  }
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 65'536> part{};
  for (ssize_t more = 0; (more = ::read(from, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(more));
  return text;
}

// The numbers, and then a line for the finding, one for what is unknown, and one for each event.
std::string packed(const Report& report) {
  std::string text(reinterpret_cast<const char*>(&report.numbers), sizeof report.numbers);
  std::string finding = report.finding;
  std::ranges::replace(finding, '\n', ' ');
  text += finding + "\n" + report.unknown + "\n";
  if (report.finding.empty()) return text;
  for (const Begun& event : report.events) text += event.name + "\t" + event.words + "\n";
  return text;
}

std::optional<Report> unpacked(const std::string& text) {
  Report report;
  if (text.size() <= sizeof report.numbers) return std::nullopt;
  std::memcpy(&report.numbers, text.data(), sizeof report.numbers);
  std::istringstream lines(text.substr(sizeof report.numbers));
  std::getline(lines, report.finding);
  std::getline(lines, report.unknown);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    report.events.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return report;
}

/// In a process of its own: what a killed process of the program had is not freed (fibers.h), and nothing
/// that the program keeps for the time of a process comes into the next run. None: it has crashed.
std::optional<Report> run_apart(const Options& options, Prints prints) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(kMostSeconds);
    const rlimit memory{kMostBytes, kMostBytes};
    ::setrlimit(RLIMIT_AS, &memory);
    const std::string text = packed(run_here(options, prints));
    std::fflush(stdout);
    write_all(ends[1], text);
    ::_exit(0);
  }
  ::close(ends[1]);
  const std::string text = read_all(ends[0]);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return unpacked(text);
}

Options options_of(const Arguments& arguments, std::uint64_t seed) {
  Options options{.seed = seed,
                  .load = std::chrono::seconds(arguments.seconds),
                  .tells_all = arguments.tells_all,
                  .order = arguments.order};
  if (!arguments.only.empty()) options.only.emplace(arguments.only.begin(), arguments.only.end());
  return options;
}

int run(const Arguments& arguments, const std::vector<std::uint64_t>& kept) {
  const auto begin = std::chrono::steady_clock::now();
  Report::Numbers all;
  int findings = 0;
  std::optional<std::string> unknown;  // in all runs
  const std::uint64_t first = arguments.seed != 0 ? arguments.seed : std::random_device()();
  std::uint64_t seeds = 0;
  const auto is_over = [&] {
    if (findings >= arguments.findings) return true;
    if (!kept.empty()) return seeds >= kept.size();
    if (arguments.for_seconds == 0) return seeds >= arguments.seeds;
    return std::chrono::steady_clock::now() - begin >= std::chrono::seconds(arguments.for_seconds);
  };
  for (; !is_over(); ++seeds) {
    const std::uint64_t seed = kept.empty() ? first + seeds : kept[seeds];
    const Options options = options_of(arguments, seed);
    const std::optional<Report> report = run_apart(options, Prints::kFindings);
    if (!report) {
      ++findings;
      std::printf("seed %llu: the run has crashed, or goes round and round\n",
                  static_cast<unsigned long long>(seed));
      continue;
    }
    all.simulated += report->numbers.simulated;
    all.commits += report->numbers.commits;
    all.deaths += report->numbers.deaths;
    for (double Report::Numbers::*const most : {&Report::Numbers::slowest_own, &Report::Numbers::slowest_end,
                                                &Report::Numbers::most_work, &Report::Numbers::most_growth})
      all.*most = std::max(all.*most, report->numbers.*most);
    if (!report->finding.empty()) ++findings;
    if (!unknown || unknown->size() > report->unknown.size()) unknown = report->unknown;
    if (!arguments.twice) continue;
    const std::optional<Report> again = run_apart(options, Prints::kNothing);
    if (again && again->numbers.hash == report->numbers.hash) continue;
    ++findings;
    std::printf("seed %llu: the second run is another one\n", static_cast<unsigned long long>(seed));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%llu seeds from %llu: %.0f simulated seconds in %.1f s (%.0f a second), %lld commits, %d deaths, "
      "%d findings; at most: a change of its own %.1f s, until nothing is left %.1f s, work %.2f, growth "
      "%.0f "
      "bytes\n",
      static_cast<unsigned long long>(seeds),
      static_cast<unsigned long long>(kept.empty() ? first : kept.front()), all.simulated, took.count(),
      all.simulated / took.count(), static_cast<long long>(all.commits), all.deaths, findings,
      all.slowest_own, all.slowest_end, all.most_work, all.most_growth);
  if (findings == 0 && unknown && !unknown->empty())
    throw std::invalid_argument("no run has the event " + *unknown);
  return findings == 0 ? 0 : 1;
}

/// Exit codes: 0 it does not fail; 1 it does.
int shrink_one(const Arguments& arguments) {
  if (arguments.seed == 0) throw std::invalid_argument("--shrink needs a seed that is known");
  Options options = options_of(arguments, arguments.seed);
  options.tells_all = false;
  const std::optional<Report> whole = run_apart(options, Prints::kNothing);
  if (!whole) {
    std::printf("seed %llu crashes: that is not made shorter\n",
                static_cast<unsigned long long>(options.seed));
    return 1;
  }
  if (whole->finding.empty()) {
    std::printf("seed %llu: every property holds\n", static_cast<unsigned long long>(options.seed));
    return 0;
  }
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(options.seed), whole->finding.c_str());
  const std::string property = property_of(whole->finding);
  std::string finding = whole->finding;
  int runs = 0;
  const std::vector<Begun> left = shrink(whole->events, [&](const std::vector<Begun>& events) {
    options.only.emplace();
    for (const Begun& event : events) options.only->insert(event.name);
    const int usual = options.order;
    for (int i = 0; i < kOrders; ++i) {
      options.order = i == 0 ? usual : i <= usual ? i - 1 : i;
      ++runs;
      std::optional<Report> report = run_apart(options, Prints::kNothing);
      if (!report || property_of(report->finding) != property) continue;
      finding = report->finding;
      return std::optional(std::move(report->events));
    }
    options.order = usual;
    return std::optional<std::vector<Begun>>();
  });
  std::printf("%zu of %zu events are left, after %d runs:\n", left.size(), whole->events.size(), runs);
  std::string names;
  for (const Begun& event : left) {
    std::printf("  %-14s %s\n", event.name.c_str(), event.words.c_str());
    names += (names.empty() ? "" : ",") + event.name;
  }
  std::printf(
      "%s\nthe same again: scripts/simulate --seed %llu --seeds 1 --seconds %d --order %d --only %s --log\n",
      finding.c_str(), static_cast<unsigned long long>(options.seed), arguments.seconds, options.order,
      names.c_str());
  return 1;
}

/// A seed a line, and a word on it.
std::vector<std::uint64_t> seeds_of(const std::string& file) {
  std::ifstream lines(file);
  if (!lines) throw std::system_error(ENOENT, std::generic_category(), file);
  std::vector<std::uint64_t> seeds;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::string seed = line.substr(0, line.find(' '));
    if (seed.empty() || seed.find_first_not_of("0123456789") != seed.npos)
      throw std::invalid_argument(file + ": \"" + line + "\" does not begin with a seed");
    seeds.push_back(std::stoull(seed));
  }
  if (seeds.empty()) throw std::invalid_argument(file + " has no seed");
  return seeds;
}

}  // namespace
}  // namespace lockstep::simulation

int main(int argc, char** argv) {
  lockstep::simulation::Arguments arguments;
  CLI::App app("Runs the replication under simulated faults; see scripts/simulate --help");
  CLI::Option* const seed =
      app.add_option("--seed", arguments.seed, "The first seed; 0: another one each time");
  seed->check(CLI::NonNegativeNumber);
  CLI::Option* const seeds = app.add_option("--seeds", arguments.seeds, "How many");
  seeds->check(CLI::Range(1.0, 1e9));  // what is too long for a number is taken for the greatest one
  CLI::Option* const most =
      app.add_option("--for", arguments.for_seconds, "As many as fit into so many seconds");
  most->check(CLI::PositiveNumber)->excludes(seeds);
  CLI::Option* const kept = app.add_option("--kept", arguments.kept, "The seeds of this file");
  kept->excludes(seed)->excludes(seeds)->excludes(most);
  app.add_option("--seconds", arguments.seconds, "Of load, in each run")->check(CLI::PositiveNumber);
  CLI::Option* const findings = app.add_option("--findings", arguments.findings, "End after so many");
  findings->check(CLI::PositiveNumber);
  app.add_option("--only", arguments.only, "The names of the events that happen")->delimiter(',');
  app.add_option("--order", arguments.order, "Another order of the threads")->check(CLI::NonNegativeNumber);
  CLI::Option* const twice =
      app.add_flag("--twice", arguments.twice, "Run each seed twice, and compare the events");
  CLI::Option* const log = app.add_flag("--log", arguments.tells_all, "Print each event");
  CLI::Option* const shrinks =
      app.add_flag("--shrink", arguments.shrinks, "Leave out what a finding does not need");
  for (CLI::Option* const other : {seeds, most, kept, findings, twice, log}) shrinks->excludes(other);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (arguments.shrinks) return lockstep::simulation::shrink_one(arguments);
    return lockstep::simulation::run(arguments, arguments.kept.empty()
                                                    ? std::vector<std::uint64_t>()
                                                    : lockstep::simulation::seeds_of(arguments.kept));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulate: %s\n", error.what());
    return 2;
  }
}
