#include "tests/lock_harness/client.h"

#include <csignal>
#include <iostream>
#include <random>
#include <thread>

#include "replicator/error.h"
#include "replicator/locks/acquire.h"
#include "replicator/locks/open_locks.h"
#include "replicator/locks/sweep.h"
#include "tests/support/servers.h"

namespace lockstep::harness {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLease{1'000};

std::string directory_of(int directory) {
  return "/" + std::to_string(directory);
}

class Client final : public WriteRegisters {
 public:
  Client(const World& world, std::uint64_t seed, RegisterStore& store)
      : WriteRegisters(store, world.without),
        world_(world),
        random_(seed),
        store_(store),
        locks_(open_locks_of(world)) {}

  void work() {
    try {
      Operation operation = begin();
      try {
        go_through(operation);
      } catch (const LeaseLost& lost) {
        if (lost.over()) locks_->release(operation);
      }
      if (world_.without != Without::kRecovery && one_in(8)) sweep(*locks_, *this);
    } catch (const LeaseLost&) {
    } catch (const Error& error) {
      if (!error.retryable()) throw;
    }
  }

 private:
  bool one_in(unsigned n) { return random_() % n == 0; }

  void pass(const char* point) override {
    if (one_in(120)) {
      std::cout << "dies " << point << std::endl;
      std::raise(SIGKILL);
    }
    if (one_in(60)) {
      std::cout << "sleeps " << point << std::endl;
      std::this_thread::sleep_for(milliseconds(random_() % 2'500));
    }
  }

  /// Two registers, or now and then a whole directory.
  Operation begin() {
    std::vector<Register> registers;
    std::vector<std::string> paths;
    const auto add = [&](Register at) {
      const int directory = at / kRegistersOfADirectory;
      registers.push_back(at);
      paths.push_back(directory_of(directory) + "/" + std::to_string(at));
    };
    if (one_in(5)) {
      const int directory = static_cast<int>(random_() % kDirectories);
      for (int i = 0; i < kRegistersOfADirectory; ++i)
        registers.push_back(directory * kRegistersOfADirectory + i);
      paths.push_back(directory_of(directory));
    } else {
      const auto first = static_cast<Register>(random_() % kRegisters);
      add(first);
      add((first + 1 + static_cast<Register>(random_() % (kRegisters - 1))) % kRegisters);
    }
    Operation operation = locks_->open({.kind = "write", .from = text_of(registers)}, tree_locks(paths));
    store_.announce(operation.id, registers);
    pass("opened");
    return operation;
  }

  void go_through(Operation& operation) {
    if (!take(operation)) {
      locks_->finish(operation, OperationState::kAborted, "refused");
      locks_->release(operation);
      return;
    }
    pass("locked");
    locks_->commit(operation);
    pass("committed");
    apply(*locks_, operation);
    try {
      locks_->finish(operation, OperationState::kDone, "");
    } catch (const LeaseLost&) {
      if (world_.without != Without::kFencing) throw;
    }
    pass("done");
    locks_->release(operation);
  }

  bool take(Operation& operation) {
    if (world_.without == Without::kRecovery) return !locks_->try_acquire(operation, milliseconds(0));
    return !acquire(*locks_, operation, *this, {.limit = milliseconds(3'000), .seed = random_()});
  }

  const World world_;
  std::mt19937_64 random_;
  RegisterStore& store_;
  std::unique_ptr<LockManager> locks_;
};

}  // namespace

std::unique_ptr<LockManager> open_locks_of(const World& world) {
  Config config;
  config.source.url = world.database;
  config.locks.lease = kLease;
  config.locks.index = world.index;
  if (world.backend == "postgresql") {
    config.locks.backend = LocksConfig::Backend::kPostgresql;
  } else {
    config.elasticsearch.urls = {support::elasticsearch_url()};
  }
  std::unique_ptr<LockManager> locks = open_locks(config);
  locks->prepare();
  return locks;
}

void WriteRegisters::roll_forward(LockManager& locks, Operation& operation) {
  if (without_ != Without::kFencing) apply(locks, operation);
}

void WriteRegisters::apply(LockManager& locks, Operation& operation) {
  for (const Register at : registers_of(operation.intent.from)) {
    if (without_ == Without::kFencing) {
      store_.write_anyhow(at, operation.id);
      pass("written");
      continue;
    }
    while (true) {
      const RegisterStore::Stored stored = store_.read(at);
      if (stored.operation == operation.id && stored.fence == operation.token) break;
      if (stored.fence > operation.token) throw LeaseLost("fenced off", false);
      pass("read");
      if (store_.write_as_read(at, operation.id, operation.token, stored.revision)) break;
    }
    pass("written");
    locks.record(operation);
  }
}

void run_client(const World& world, std::uint64_t seed) {
  RegisterStore store(world.database);
  Client client(world, seed, store);
  while (true) client.work();
}

}  // namespace lockstep::harness
