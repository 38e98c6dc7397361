// One process of the harness: random operations under tree locks until it is killed, which at any named point
// of the protocol it may do itself, or sleep for longer than its lease.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replicator/locks/lock_manager.h"
#include "replicator/locks/roll_forward.h"
#include "tests/lock_harness/register_store.h"

namespace lockstep::harness {

/// Which safeguard is left out, so that the checker must find something.
enum class Without {
  kNothing,
  kFencing,   ///< expired locks are taken without the rest of the work being done, and nobody is fenced off
  kRecovery,  ///< nobody clears up after the dead
};

struct World {
  std::string backend = "postgresql";  ///< or "elasticsearch"
  std::string database = {};           ///< URL of the registers, and of the locks in PostgreSQL
  std::string index = {};              ///< of the locks in Elasticsearch
  Without without = Without::kNothing;
};

constexpr int kDirectories = 3;
constexpr int kRegistersOfADirectory = 4;
constexpr int kRegisters = kDirectories * kRegistersOfADirectory;

/// The locks of the world, prepared.
std::unique_ptr<LockManager> open_locks_of(const World& world);

/// Does what an operation of the harness does, as often as somebody adopts it.
class WriteRegisters : public RollForward {
 public:
  WriteRegisters(RegisterStore& store, Without without) : store_(store), without_(without) {}

  bool knows(const OperationIntent& intent) const override { return intent.kind == "write"; }
  void roll_forward(LockManager& locks, Operation& operation) override;

  /// Throws LeaseLost when another one has come after it.
  void apply(LockManager& locks, Operation& operation);

 protected:
  /// Between two steps.
  virtual void pass(const char* /*point*/) {}

 private:
  RegisterStore& store_;
  const Without without_;
};

/// Never returns.
[[noreturn]] void run_client(const World& world, std::uint64_t seed);

}  // namespace lockstep::harness
