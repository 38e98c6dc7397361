// A process of the harness: random operations on registers under tree locks until it is killed, which at any
// named point of the protocol it may do itself, or sleep for longer than its lease.
#pragma once

#include <cstdint>

#include "replicator/locks/roll_forward.h"
#include "tests/proof/lock_harness/register_store.h"
#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

constexpr int kDirectories = 3;
constexpr int kRegistersOfADirectory = 4;
constexpr int kRegisters = kDirectories * kRegistersOfADirectory;

/// Does what an operation of the harness does, as often as somebody adopts it.
class WriteRegisters : public RollForward {
 public:
  WriteRegisters(RegisterStore& store, Without without) : store_(store), without_(without) {}

  bool knows(const Operation& operation) const override { return operation.intent.kind == "write"; }
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
[[noreturn]] void run_register_client(const World& world, std::uint64_t seed);

}  // namespace lockstep::harness
