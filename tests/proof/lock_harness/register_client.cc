#include "tests/proof/lock_harness/register_client.h"

#include "replicator/error.h"
#include "replicator/locks/acquire.h"
#include "replicator/locks/sweep.h"
#include "tests/proof/lock_harness/fate.h"

namespace lockstep::harness {
namespace {

using std::chrono::milliseconds;

std::string directory_of(int directory) {
  return "/" + std::to_string(directory);
}

class Client final : public WriteRegisters {
 public:
  Client(const World& world, std::uint64_t seed, RegisterStore& store)
      : WriteRegisters(store, world.without),
        world_(world),
        fate_(seed, {}),
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
      if (world_.without != Without::kRecovery && fate_.one_in(8)) sweep(*locks_, *this);
    } catch (const LeaseLost&) {
    } catch (const Error& error) {
      if (!error.retryable()) throw;
    }
  }

 private:
  void pass(const char* point) override { fate_.pass(point); }

  /// Opens an operation on two registers, or now and then on a whole directory.
  Operation begin() {
    std::vector<Register> registers;
    std::vector<std::string> paths;
    const auto add = [&](Register at) {
      const int directory = at / kRegistersOfADirectory;
      registers.push_back(at);
      paths.push_back(directory_of(directory) + "/" + std::to_string(at));
    };
    if (fate_.one_in(5)) {
      const int directory = static_cast<int>(fate_.number() % kDirectories);
      for (int i = 0; i < kRegistersOfADirectory; ++i)
        registers.push_back(directory * kRegistersOfADirectory + i);
      paths.push_back(directory_of(directory));
    } else {
      const auto first = static_cast<Register>(fate_.number() % kRegisters);
      add(first);
      add((first + 1 + static_cast<Register>(fate_.number() % (kRegisters - 1))) % kRegisters);
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
    return !acquire(*locks_, operation, *this, {.limit = milliseconds(3'000), .seed = fate_.number()});
  }

  const World world_;
  Fate fate_;
  RegisterStore& store_;
  std::unique_ptr<LockManager> locks_;
};

}  // namespace

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

void run_register_client(const World& world, std::uint64_t seed) {
  RegisterStore store(world.database);
  Client client(world, seed, store);
  while (true) client.work();
}

}  // namespace lockstep::harness
