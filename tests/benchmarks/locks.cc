// What locks cost: acquire and release alone, and a whole operation with its journal, for each scheme; and
// how many operations a second several clients get through one lock; over both backends.
//
//   LOCKSTEP_TEST_ELASTICSEARCH=… LOCKSTEP_TEST_POSTGRESQL=… benchmark_locks [rounds]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "replicator/locks/acquire.h"
#include "replicator/locks/open_locks.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/postgres_database.h"
#include "tests/support/servers.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kNoMark{0};

using Open = std::function<std::unique_ptr<LockManager>()>;

std::unique_ptr<LockManager> open(const Config& config) {
  std::unique_ptr<LockManager> locks = open_locks(config);
  locks->prepare();
  return locks;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))] * 1'000;
  };
  std::printf("%-44s p50 %8.2f ms  p99 %8.2f ms\n", what, at(0.5), at(0.99));
}

void measure(LockManager& locks, const char* what, const LockSet& set, int rounds) {
  Operation operation = locks.open({}, set);
  std::vector<double> alone;
  for (int i = 0; i < rounds; ++i) {
    alone.push_back(seconds_of([&] {
      (void)locks.try_acquire(operation, kNoMark);
      locks.release(operation);
    }));
  }
  std::vector<double> whole;
  for (int i = 0; i < rounds; ++i) {
    whole.push_back(seconds_of([&] {
      Operation each = locks.open({}, set);
      (void)locks.try_acquire(each, kNoMark);
      locks.commit(each);
      locks.finish(each, OperationState::kDone, "");
      locks.release(each);
    }));
  }
  std::printf("%s\n", what);
  print("  acquire and release", alone);
  print("  operation with journal", whole);
}

void contend(const Open& open, int clients, const std::function<LockSet(int, int)>& set, const char* what) {
  std::atomic<int> done = 0;
  const auto end = std::chrono::steady_clock::now() + seconds(10);
  std::vector<std::jthread> threads;
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&, client] {
      const auto locks = open();
      NoRollForward nothing;
      for (int n = 0; std::chrono::steady_clock::now() < end; ++n) {
        Operation operation = locks->open({}, set(client, n));
        const bool had = !acquire(*locks, operation, nothing, {.limit = seconds(10)});
        if (had) locks->commit(operation);
        locks->finish(operation, had ? OperationState::kDone : OperationState::kAborted, "");
        locks->release(operation);
        if (had) ++done;
      }
    });
  }
  threads.clear();
  std::printf("%-44s %d clients: %.0f operations/s\n", what, clients, done / 10.0);
}

std::vector<std::string> ids(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back("document-" + std::to_string(i));
  return all;
}

void measure_all(const char* backend, const Open& open, int rounds) {
  std::printf("== %s\n", backend);
  const auto locks = open();
  measure(*locks, "global", global_lock(), rounds);
  measure(*locks, "shared NAME", {{LockName("n"), LockMode::kShared}}, rounds);
  measure(*locks, "document, 1 id", document_locks(ids(1)), rounds);
  measure(*locks, "document, 100 ids", document_locks(ids(100)), std::max(rounds / 5, 10));
  measure(*locks, "document, 2,000 ids", document_locks(ids(2'000)), std::max(rounds / 50, 10));
  measure(
      *locks, "tree, rename of a file 4 deep (6 locks)",
      tree_locks({"/clinton/projects/elasticsearch/README.txt", "/clinton/projects/elasticsearch/README.md"}),
      rounds);
  for (const int clients : {1, 2, 6}) {
    contend(
        open, clients, [](int, int) { return global_lock(); }, "global, all for the same lock");
    contend(
        open, clients,
        [](int client, int n) {
          return tree_locks({"/clinton/" + std::to_string(client) + "-" + std::to_string(n)});
        },
        "tree, files of one directory");
  }
}

int run(int rounds) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const support::ElasticsearchIndex index("benchmark");
  const support::PostgresDatabase database;
  Config config;
  config.locks.lease = seconds(60);
  config.locks.index = index.alias() + "-locks";
  config.elasticsearch.urls = {support::elasticsearch_url()};
  config.source.url = database.url();
  measure_all(
      "Elasticsearch", [&] { return open(config); }, rounds);
  config.locks.backend = LocksConfig::Backend::kPostgresql;
  measure_all(
      "PostgreSQL", [&] { return open(config); }, rounds);
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  return lockstep::run(argc > 1 ? std::atoi(argv[1]) : 500);
}
