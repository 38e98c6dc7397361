// Locks under death and sleep: clients, each a process of its own, do random operations under tree locks
// while they are killed and stopped for longer than their leases; then everybody dies, a survivor clears up,
// and the checker looks at every write (checker.h). Without one of the safeguards it must find something, or
// it would not see anything at all.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <random>
#include <sstream>
#include <thread>

#include "tests/lock_harness/checker.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/postgres_database.h"
#include "tests/support/program.h"

namespace lockstep::harness {
namespace {

using std::chrono::milliseconds;
using support::Program;

constexpr int kMostShown = 20;

struct Options {
  World world;
  std::string without = "nothing";
  int seconds = 60;
  int clients = 6;
  std::uint64_t seed = 1;
  bool client = false;
};

/// The processes, and what is done to them from outside.
class Crowd {
 public:
  Crowd(const Options& options) : options_(options), random_(options.seed) {}

  void live() {
    for (int i = 0; i < options_.clients; ++i) clients_.push_back(start());
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options_.seconds);
    while (std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(50 + random_() % 400));
      harm(clients_[random_() % clients_.size()]);
      for (std::unique_ptr<Program>& client : clients_) {
        if (!client->running()) bury(client);
      }
    }
    for (std::unique_ptr<Program>& client : clients_) {
      client->kill();
      count(*client);
    }
  }

  std::int64_t killed = 0;
  std::int64_t stopped = 0;
  std::int64_t died = 0;   ///< by themselves, at a point of the protocol
  std::int64_t slept = 0;  ///< the same
  std::vector<std::string> faults;

 private:
  std::unique_ptr<Program> start() {
    const World& world = options_.world;
    return std::make_unique<Program>(
        "/proc/self/exe",
        std::vector<std::string>{"--client", "--backend", world.backend, "--database", world.database,
                                 "--index", world.index, "--without", options_.without, "--seed",
                                 std::to_string(random_() >> 1)});
  }

  void harm(std::unique_ptr<Program>& client) {
    if (random_() % 3 != 0) {
      ++stopped;
      client->signal(SIGSTOP);
      std::this_thread::sleep_for(milliseconds(random_() % 1'800));
      client->signal(SIGCONT);
    } else {
      ++killed;
      client->kill();
    }
  }

  void bury(std::unique_ptr<Program>& client) {
    constexpr int kKilled = 128 + SIGKILL;
    const std::optional<int> code = client->wait(std::chrono::seconds(10));
    if (code != kKilled) faults.push_back("a client ended by itself: " + client->err());
    count(*client);
    client = start();
  }

  void count(const Program& client) {
    std::istringstream lines(client.out());
    for (std::string line; std::getline(lines, line);) ++(line.starts_with("dies") ? died : slept);
  }

  const Options& options_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Program>> clients_;
};

int run(Options options) {
  const support::PostgresDatabase database;
  const support::ElasticsearchIndex index("harness");
  options.world.database = database.url();
  options.world.index = index.alias() + "-locks";
  RegisterStore(options.world.database).create(kRegisters);
  (void)open_locks_of(options.world);

  Crowd crowd(options);
  crowd.live();
  Findings findings = check(options.world);
  std::cout << options.world.backend << ", seed " << options.seed << ", " << options.seconds << " s, "
            << options.clients << " clients, without " << options.without << "\n"
            << "operations: " << findings.opened << " opened, " << findings.done << " done, of these "
            << findings.adopted << " by another one, " << findings.aborted << " aborted\n"
            << "harm: " << crowd.killed << " killed, " << crowd.stopped << " stopped, " << crowd.died
            << " died at a point, " << crowd.slept << " slept at one\n";
  findings.violations.insert(findings.violations.end(), crowd.faults.begin(), crowd.faults.end());
  std::cout << findings.violations.size() << " violations\n";
  for (std::size_t i = 0; i < findings.violations.size() && i < kMostShown; ++i)
    std::cout << "  " << findings.violations[i] << '\n';
  if (findings.done == 0) {
    std::cout << "nothing was done, so nothing was shown\n";
    return 1;
  }
  const bool clean = findings.violations.empty();
  return clean == (options.world.without == Without::kNothing) ? 0 : 1;
}

}  // namespace
}  // namespace lockstep::harness

int main(int argc, char** argv) {
  using lockstep::harness::Without;
  lockstep::harness::Options options;
  CLI::App app("Random operations under locks, with death and sleep, and a checker of every write.");
  app.add_option("--backend", options.world.backend, "where the locks are kept")
      ->check(CLI::IsMember({"postgresql", "elasticsearch"}))
      ->capture_default_str();
  app.add_option("--without", options.without,
                 "leave out a safeguard; then a violation is what must be found")
      ->check(CLI::IsMember({"nothing", "fencing", "recovery"}))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "how long")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--clients", options.clients, "how many")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seed", options.seed, "decides what is done and to whom")->capture_default_str();
  app.add_flag("--client", options.client)->group("");
  app.add_option("--database", options.world.database)->group("");
  app.add_option("--index", options.world.index)->group("");
  CLI11_PARSE(app, argc, argv);
  if (options.without == "fencing") options.world.without = Without::kFencing;
  if (options.without == "recovery") options.world.without = Without::kRecovery;
  try {
    if (options.client) lockstep::harness::run_client(options.world, options.seed);
    return lockstep::harness::run(options);
  } catch (const std::exception& error) {
    std::cerr << "lock-harness: " << error.what() << '\n';
    return 1;
  }
}
