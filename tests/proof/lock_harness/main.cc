// Proves locks under death and sleep. Clients, each a process of its own, change registers or a tree under
// locks while the harness kills them and stops them for longer than their leases. Then every client dies, a
// survivor clears up, and the checker judges what is left (register_checker.h, tree_checker.h). With a
// safeguard missing the checker must find a violation: otherwise it would see nothing at all.
#include <CLI/CLI.hpp>
#include <iostream>

#include "replicator/tree/tree.h"
#include "tests/proof/lock_harness/crowd.h"
#include "tests/proof/lock_harness/document_checker.h"
#include "tests/proof/lock_harness/document_world.h"
#include "tests/proof/lock_harness/failing_cluster.h"
#include "tests/proof/lock_harness/meddler.h"
#include "tests/proof/lock_harness/register_checker.h"
#include "tests/proof/lock_harness/register_client.h"
#include "tests/proof/lock_harness/tree_checker.h"
#include "tests/proof/lock_harness/tree_client.h"
#include "tests/proof/lock_harness/tree_world.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/postgres_database.h"
#include "tests/support/servers.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::harness {
namespace {

using Backend = LocksConfig::Backend;
using Locking = TreeConfig::Locking;

constexpr int kMostShown = 20;
/// Within so many rounds a missing safeguard must show: it takes a death or a sleep at the wrong moment.
constexpr int kRoundsWithout = 12;
const std::map<std::string, Work> kWork = {
    {"registers", Work::kRegisters}, {"tree", Work::kTree}, {"documents", Work::kDocuments}};
const std::map<std::string, Backend> kBackends = {{"postgresql", Backend::kPostgresql},
                                                  {"elasticsearch", Backend::kElasticsearch}};
const std::map<std::string, Locking> kSchemes = {{"tree", Locking::kTree}, {"global", Locking::kGlobal}};
const std::map<std::string, Without> kSafeguards = {{"nothing", Without::kNothing},
                                                    {"fencing", Without::kFencing},
                                                    {"recovery", Without::kRecovery},
                                                    {"locks", Without::kLocks}};

struct Options {
  World world;
  int seconds = 60;
  int clients = 6;
  std::uint64_t seed = 1;
  std::string cluster = {};  ///< the engine whose nodes fail; empty for none
  std::size_t nodes = 3;     ///< of it
  bool client = false;
};

template <class Value>
std::string name_in(const std::map<std::string, Value>& names, Value value) {
  for (const auto& [name, each] : names) {
    if (each == value) return name;
  }
  throw std::logic_error("a value without a name");
}

std::vector<Command> clients_of(const World& world, const std::string& config) {
  if (world.work == Work::kDocuments) return document_clients(world, config);
  std::vector<std::string> arguments = {"--client",
                                        "--work",
                                        name_in(kWork, world.work),
                                        "--backend",
                                        name_in(kBackends, world.backend),
                                        "--locking",
                                        name_in(kSchemes, world.locking),
                                        "--without",
                                        name_in(kSafeguards, world.without),
                                        "--database",
                                        world.database,
                                        "--alias",
                                        world.alias,
                                        "--lease",
                                        std::to_string(world.lease.count())};
  for (const std::string& url : world.urls) arguments.insert(arguments.end(), {"--url", url});
  return {{"/proc/self/exe", std::move(arguments)}};
}

void prepare(const World& world) {
  const std::unique_ptr<LockManager> locks = open_patient_locks_of(world);
  if (world.work == Work::kRegisters) {
    RegisterStore(world.database).create(kRegisters);
    return;
  }
  if (world.work == Work::kDocuments) {
    write_documents(world);
    return;
  }
  const Config config = config_of(world);
  support::ElasticsearchServer server;
  create_folding_index(server, config.tree.index);
  open_tree(config, *locks)->prepare();
  write_files(server, config.tree.index, first_files());
}

void print(const Options& options, std::uint64_t seed, const Crowd& crowd, const Findings& findings) {
  const World& world = options.world;
  std::cout << name_in(kWork, world.work) << ", locks in " << name_in(kBackends, world.backend) << ", seed "
            << seed << ", " << options.seconds << " s, " << options.clients << " clients, leases of "
            << world.lease.count() << " ms, without " << name_in(kSafeguards, world.without) << "\n"
            << "operations: " << findings.opened << " opened, " << findings.done << " done, of these "
            << findings.adopted << " by another one, " << findings.aborted << " aborted\n"
            << "harm: " << crowd.killed << " killed, " << crowd.stopped << " stopped, " << crowd.heard.died
            << " died at a point, " << crowd.heard.slept << " slept at one\n"
            << findings.violations.size() << " violations" << std::endl;
  for (std::size_t i = 0; i < findings.violations.size() && i < kMostShown; ++i)
    std::cout << "  " << findings.violations[i] << '\n';
}

Findings check(const World& world, const Heard& heard) {
  switch (world.work) {
    case Work::kRegisters:
      return check_registers(world);
    case Work::kTree:
      return check_tree(world, heard.staged);
    case Work::kDocuments:
      return check_documents(world, heard);
  }
  throw std::logic_error("unknown work");
}

/// Lives for `options.seconds` in an empty world, and checks.
Findings play(const Options& options, World world, FailingCluster* cluster, std::uint64_t seed) {
  const support::PostgresDatabase database;
  const support::ElasticsearchIndex index("harness");
  world.database = database.url();
  world.alias = index.alias();
  prepare(world);

  const support::TemporaryFolder folder;
  const std::string config = folder.write("lockstep.toml", configuration_text(world));
  Crowd crowd(clients_of(world, config), options.clients, seed, world.lease * 9 / 5);
  std::optional<Meddler> meddler;
  if (world.work == Work::kDocuments && world.without == Without::kNothing) meddler.emplace(world, seed);
  if (cluster != nullptr) cluster->begin_to_fail(seed);
  crowd.live(std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds));
  if (cluster != nullptr) {
    const FailingCluster::Killed killed = cluster->recover();
    std::cout << killed.nodes << " times one of " << options.nodes << " nodes was killed, " << killed.masters
              << " times the master\n";
  }
  if (meddler) {
    const Meddler::Done done = meddler->stop();
    std::cout << done.deleted << " indices of locks were deleted, " << done.restored
              << " documents restored\n";
  }

  Findings findings = check(world, crowd.heard);
  findings.violations.insert(findings.violations.end(), crowd.faults.begin(), crowd.faults.end());
  print(options, seed, crowd, findings);
  return findings;
}

int run(Options options) {
  World& world = options.world;
  if (world.lease.count() == 0)
    world.lease = usual_lease(world.work, options.cluster.empty() ? 1 : options.nodes);
  std::optional<FailingCluster> cluster;
  if (options.cluster.empty()) {
    world.urls = {support::elasticsearch_url()};
  } else {
    cluster.emplace(options.cluster, options.nodes);
    world.urls = cluster->urls();
    // No other thread runs yet, and nobody has asked for it.
    setenv("LOCKSTEP_TEST_ELASTICSEARCH", world.urls.front().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  FailingCluster* const failing = cluster ? &*cluster : nullptr;
  if (world.without != Without::kNothing) {
    for (std::uint64_t round = 0; round < kRoundsWithout; ++round) {
      if (!play(options, world, failing, options.seed + round).violations.empty()) return 0;
    }
    return 1;
  }
  const Findings findings = play(options, world, failing, options.seed);
  if (findings.done == 0) std::cout << "nothing was done, so nothing was shown\n";
  return findings.done > 0 && findings.violations.empty() ? 0 : 1;
}

[[noreturn]] void run_client(const Options& options) {
  if (options.world.work == Work::kTree) run_tree_client(options.world, options.seed);
  run_register_client(options.world, options.seed);
}

}  // namespace
}  // namespace lockstep::harness

int main(int argc, char** argv) {
  using namespace lockstep::harness;  // NOLINT(google-build-using-namespace): it is all about this
  Options options;
  World& world = options.world;
  int lease = 0;
  CLI::App app("Random operations under locks, with death and sleep, and a checker of what they leave.");
  app.add_option("--work", world.work,
                 "what is changed: registers, the documents of a tree, or documents that others change")
      ->transform(CLI::CheckedTransformer(kWork))
      ->default_str("registers");
  app.add_option("--backend", world.backend, "where the locks of registers are kept")
      ->transform(CLI::CheckedTransformer(kBackends))
      ->default_str("postgresql");
  app.add_option("--locking", world.locking, "the scheme of a tree")
      ->transform(CLI::CheckedTransformer(kSchemes))
      ->default_str("tree");
  app.add_option("--without", world.without, "leave out a safeguard; then a violation is what must be found")
      ->transform(CLI::CheckedTransformer(kSafeguards))
      ->default_str("nothing");
  app.add_option("--lease", lease,
                 "how long a lock lasts, in milliseconds; without it as long as the work needs")
      ->check(CLI::Range(1, 3'600'000));
  app.add_option("--seconds", options.seconds, "how long")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--clients", options.clients, "how many")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seed", options.seed, "decides what is done and to whom")->capture_default_str();
  app.add_option("--cluster", options.cluster,
                 "start nodes of this engine for it, and kill one after the other");
  app.add_option("--nodes", options.nodes, "so many; a single one is away for longer than every lease")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--client", options.client)->group("");
  app.add_option("--database", world.database)->group("");
  app.add_option("--alias", world.alias)->group("");
  app.add_option("--url", world.urls)->group("");
  CLI11_PARSE(app, argc, argv);
  world.lease = std::chrono::milliseconds(lease);
  if (world.work != Work::kRegisters) world.backend = lockstep::LocksConfig::Backend::kElasticsearch;
  try {
    if (options.client) run_client(options);
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "lock-harness: " << error.what() << '\n';
    return 1;
  }
}
