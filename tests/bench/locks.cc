// What locks cost: acquire and release alone, and a whole operation with its journal, for each scheme; and
// how many operations a second several clients get through one lock; over both backends.
#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "replicator/locks/acquire.h"
#include "replicator/locks/open_locks.h"
#include "tests/bench/support/benchmark.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/postgres_database.h"
#include "tests/support/servers.h"

namespace lockstep::benchmarks {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kNoPlace{0};
constexpr int kMany = 6;  // clients at one lock

/// One backend and what opens it.
struct Backend {
  std::string name;
  std::function<std::unique_ptr<LockManager>()> open;
};

double milliseconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void run_operation(LockManager& locks, const LockSet& set) {
  Operation operation = locks.open({}, set);
  (void)locks.try_acquire(operation, kNoPlace);
  locks.commit(operation);
  locks.finish(operation, OperationState::kDone, "");
  locks.release(operation);
}

void measure(const Backend& backend, LockManager& locks, const std::string& what, const LockSet& set,
             std::int64_t rounds, Report& report) {
  Operation operation = locks.open({}, set);
  for (std::int64_t i = 0; i < rounds; ++i) {
    report.add(backend.name + ": acquire and release, " + what, "ms", milliseconds_of([&] {
                 (void)locks.try_acquire(operation, kNoPlace);
                 locks.release(operation);
               }));
    report.add(backend.name + ": operation with journal, " + what, "ms",
               milliseconds_of([&] { run_operation(locks, set); }));
  }
}

struct Contention {
  double rate;   ///< operations a second that all clients get done together
  double share;  ///< those of the client that got the fewest, of those of the one that got the most
};

/// `set` is what one of the clients locks the nth time.
Contention contend(const Backend& backend, int clients, const std::function<LockSet(int client, int n)>& set,
                   seconds time) {
  std::vector<int> done(static_cast<std::size_t>(clients));
  const auto end = std::chrono::steady_clock::now() + time;
  std::vector<std::jthread> threads;
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&, client] {
      const auto locks = backend.open();
      NoRollForward nothing;
      for (int n = 0; std::chrono::steady_clock::now() < end; ++n) {
        Operation operation = locks->open({}, set(client, n));
        const bool had = !acquire(*locks, operation, nothing, {.limit = seconds(10)});
        if (had) locks->commit(operation);
        locks->finish(operation, had ? OperationState::kDone : OperationState::kAborted, "");
        locks->release(operation);
        if (had) ++done.at(static_cast<std::size_t>(client));
      }
    });
  }
  threads.clear();
  const auto [least, most] = std::minmax_element(done.begin(), done.end());
  return {std::accumulate(done.begin(), done.end(), 0.0) / static_cast<double>(time.count()),
          static_cast<double>(*least) / std::max(*most, 1)};
}

std::vector<std::string> ids(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back("document-" + std::to_string(i));
  return all;
}

void measure_all(const Backend& backend, const Parameters& parameters, Report& report) {
  const auto locks = backend.open();
  const std::int64_t rounds = parameters["rounds"];
  const std::int64_t few = std::max<std::int64_t>(rounds / 20, 3);
  measure(backend, *locks, "global", global_lock(), rounds, report);
  measure(backend, *locks, "shared", {{LockName("n"), LockMode::kShared}}, rounds, report);
  measure(backend, *locks, "1 document", document_locks(ids(1)), rounds, report);
  measure(backend, *locks, "100 documents", document_locks(ids(100)), few, report);
  measure(backend, *locks, "2,000 documents", document_locks(ids(2'000)), few, report);
  measure(
      backend, *locks, "rename of a file four deep",
      tree_locks({"/clinton/projects/elasticsearch/README.txt", "/clinton/projects/elasticsearch/README.md"}),
      rounds, report);
  const seconds time(parameters["seconds"]);
  const auto one = [](int, int) { return global_lock(); };
  const auto files = [](int client, int n) {
    return tree_locks({"/clinton/" + std::to_string(client) + "-" + std::to_string(n)});
  };
  double alone = 0;
  for (const int clients : {1, 2, kMany}) {
    const std::string by = std::to_string(clients) + (clients == 1 ? " client" : " clients");
    const Contention global = contend(backend, clients, one, time);
    report.add(backend.name + ": all for the global lock, " + by, "operations/s", global.rate);
    if (clients == 1) alone = global.rate;
    if (clients == kMany) {
      const std::string ratio = backend.name + ": the global lock, six clients of one client";
      report.add(ratio, "", global.rate / alone);
      report.target(ratio, Report::Bound::kAtLeast, 0.8);
      report.add(backend.name + ": the global lock, least share of six of the greatest", "", global.share);
    }
    report.add(backend.name + ": files of one directory, " + by, "operations/s",
               contend(backend, clients, files, time).rate);
  }
}

void run(const Parameters& parameters, Report& report) {
  const support::ElasticsearchIndex index("benchmark");
  const support::PostgresDatabase database;
  Config config;
  config.locks.lease = seconds(60);
  config.locks.index = index.alias() + "-locks";
  config.elasticsearch.urls = {support::elasticsearch_url()};
  config.source.url = database.url();
  const auto open = [&config] {
    std::unique_ptr<LockManager> locks = open_locks(config);
    locks->prepare();
    return locks;
  };
  measure_all({"Elasticsearch", open}, parameters, report);
  config.locks.backend = LocksConfig::Backend::kPostgresql;
  measure_all({"PostgreSQL", open}, parameters, report);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"locks",
       "Takes and releases locks of each scheme over both backends, alone and with several clients.",
       {{"rounds", 500, 10, "how often each is measured; sets of many locks a twentieth of it"},
        {"seconds", 10, 1, "for how long clients contend"}},
       lockstep::benchmarks::run},
      argc, argv);
}
