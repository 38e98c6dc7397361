// Writes a report under the lock "report": report CONFIG
//
// One process at a time gets the lock. Each gets a greater token than all before it, which its writes carry.
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>

#include "replicator/config/lock_mode_config.h"
#include "replicator/locks/acquire.h"
#include "replicator/locks/open_locks.h"

using namespace lockstep;

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: report CONFIG\n";
    return 2;
  }
  const Config config = load_lock_mode_config(argv[1]);
  const std::unique_ptr<LockManager> locks = open_locks(config);
  locks->prepare();

  NoRollForward nothing;
  Operation operation = locks->open({}, {{LockName("report"), LockMode::kExclusive}});
  if (const auto refusal = acquire(*locks, operation, nothing, {.limit = std::chrono::seconds(30)})) {
    std::cerr << text_of(*refusal) << '\n';
    locks->finish(operation, OperationState::kAborted, "it was not to be had");
    return 4;
  }
  locks->commit(operation);
  // The report is written here. What takes longer than a third of the lease renews it: locks->renew(operation).
  std::cout << "token " << operation.token << '\n';
  locks->finish(operation, OperationState::kDone, "");
  locks->release(operation);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "report: " << error.what() << '\n';
  return 1;
}
