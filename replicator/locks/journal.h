// The journal of operations, whatever it is kept in.
//
// Invariant J1: an entry is changed only in the version in which it was read. A conflict is followed by a
//   reading: an entry that is still its owner's was changed by a request of the owner's own whose answer was
//   lost, any other means LeaseLost.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "replicator/locks/lock_manager.h"

namespace lockstep {

class Journal {
 public:
  virtual ~Journal() = default;

  /// Writes a pending entry; sets owner, lease and version. Idempotent for the same id.
  virtual void open(Operation& operation) = 0;

  /// Writes `changed`, a copy of `operation` with other state, task, progress, reason or locks, and a new
  /// lease; `operation` becomes what was written, with the token when its state has become running. Throws
  /// LeaseLost.
  void step(Operation& operation, const Operation& changed);

  /// LockManager::resolve() as far as the journal is concerned; kGone for an entry that is resolved, with the
  /// entry in `operation`. REQUIRES: `found` was just read. Throws LeaseLost when it has changed since.
  virtual Resolution seize(const Operation& found, const std::string& by, Adoption adoption) = 0;

  /// Makes an unresolved entry aborted whatever its lease. False when it has changed since it was read.
  virtual bool abort(const Operation& found, const std::string& by, const std::string& reason) = 0;

  virtual std::optional<Operation> find(const std::string& id) = 0;

  /// Up to 10,000 pending and running entries, those with the oldest leases.
  virtual std::vector<Operation> unresolved() = 0;

  /// Removes one entry as it was read; nothing happens when it has changed since.
  virtual void erase(const Operation& operation) = 0;

  /// Removes entries that were resolved before `age` ago.
  virtual void prune(std::chrono::milliseconds age) = 0;

 protected:
  static constexpr int kMaxUnresolved = 10'000;

  /// The entry as it was written, with its tokens if it is running; none when its version is not `expected`.
  virtual std::optional<Operation> write(const Operation& changed, JournalVersion expected) = 0;

  /// For seize().
  static LeaseLost has_changed(const Operation& found);
};

}  // namespace lockstep
