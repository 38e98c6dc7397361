// Finishes a dead owner's operation. The tree commands implement it. Without one, the locks of such an
// operation stay until `lockstep tree recover` runs.
#pragma once

#include "replicator/locks/lock_manager.h"

namespace lockstep {

class RollForward {
 public:
  virtual ~RollForward() = default;

  /// Whether it can finish this operation. Throws Error for one that it should know, of a kind that it does
  /// not.
  virtual bool knows(const Operation& operation) const = 0;

  /// Does the rest of a running operation that the caller has just adopted, and renews its lease meanwhile
  /// (LockManager::record()). Idempotent: several owners may have done parts of it. The caller finishes and
  /// releases the operation. REQUIRES: knows(operation). Throws LeaseLost.
  virtual void roll_forward(LockManager& locks, Operation& operation) = 0;
};

/// For callers that adopt nothing.
class NoRollForward final : public RollForward {
 public:
  bool knows(const Operation&) const override { return false; }
  void roll_forward(LockManager&, Operation&) override {}
};

}  // namespace lockstep
