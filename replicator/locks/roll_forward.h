// Who finishes what a dead owner has begun. The tree commands implement it; where nobody does, what needs it
// stays locked until `lockstep tree recover` comes by.
#pragma once

#include "replicator/locks/lock_manager.h"

namespace lockstep {

class RollForward {
 public:
  virtual ~RollForward() = default;

  /// Whether it can finish operations of this intent.
  virtual bool knows(const OperationIntent& intent) const = 0;

  /// Does the rest of a running operation that has just been adopted, renewing its lease meanwhile
  /// (LockManager::record()). Idempotent: several owners may have done parts of it. The caller finishes and
  /// releases it. Throws LeaseLost.
  virtual void roll_forward(LockManager& locks, Operation& operation) = 0;
};

/// For those that adopt nothing.
class NoRollForward final : public RollForward {
 public:
  bool knows(const OperationIntent&) const override { return false; }
  void roll_forward(LockManager&, Operation&) override {}
};

}  // namespace lockstep
