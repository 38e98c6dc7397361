// A client process: random operations on registers under tree locks, until it is killed. At any named point
// of the protocol it may die by itself, or sleep for longer than its lease.
#pragma once

#include <cstdint>

#include "replicator/locks/roll_forward.h"
#include "tests/proof/lock_harness/register_store.h"
#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

constexpr int kDirectories = 3;
constexpr int kRegistersOfADirectory = 4;
constexpr int kRegisters = kDirectories * kRegistersOfADirectory;

/// Does the data writes of an operation, for its owner and for each adopter.
class WriteRegisters : public RollForward {
 public:
  WriteRegisters(RegisterStore& store, Without without) : store_(store), without_(without) {}

  bool knows(const Operation& operation) const override { return operation.intent.kind == "write"; }
  void roll_forward(LockManager& locks, Operation& operation) override;

  /// Throws LeaseLost when a later owner has written.
  void apply(LockManager& locks, Operation& operation);

 protected:
  /// Called between two steps.
  virtual void pass(const char* /*point*/) {}

 private:
  RegisterStore& store_;
  const Without without_;
};

/// Never returns.
[[noreturn]] void run_register_client(const World& world, std::uint64_t seed);

}  // namespace lockstep::harness
