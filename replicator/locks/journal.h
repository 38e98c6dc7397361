// The journal of operations, wherever a backend keeps it.
//
// J1. An entry is changed only in the version in which it was read. After a conflict the owner reads the
// entry again: if it is still the owner's, a lost answer to an own request explains the conflict; otherwise
// the owner has lost its lease (LeaseLost).
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

  /// Writes `changed`, a copy of `operation` with other state, token, task, progress, reason or locks, and a
  /// new lease; `operation` becomes the written entry, with the token if its state has become running. Throws
  /// LeaseLost.
  void step(Operation& operation, const Operation& changed);

  /// Draws a token greater than `above` and than all that were drawn before.
  virtual FencingToken draw(FencingToken above) = 0;

  /// The journal's part of LockManager::resolve(). For a resolved entry kGone, with the entry in `operation`.
  /// REQUIRES: `found` was just read. Throws LeaseLost if the entry has changed since.
  virtual Resolution seize(const Operation& found, const std::string& by, Adoption adoption) = 0;

  /// Aborts an unresolved entry, whatever its lease. False if it has changed since it was read.
  virtual bool abort(const Operation& found, const std::string& by, const std::string& reason) = 0;

  virtual std::optional<Operation> find(const std::string& id) = 0;

  /// Up to 10,000 pending and running entries, the oldest leases first.
  virtual std::vector<Operation> unresolved(const Unreadable& unreadable) = 0;

  /// Removes an entry, unless it has changed since it was read.
  virtual void erase(const Operation& operation) = 0;

  /// Removes entries that were resolved longer than `age` ago.
  virtual void prune(std::chrono::milliseconds age) = 0;

 protected:
  static constexpr int kMaxUnresolved = 10'000;

  /// Returns the written entry, with its tokens if it is running; none if its version was not `expected`.
  virtual std::optional<Operation> write(const Operation& changed, JournalVersion expected) = 0;

  /// For seize().
  static LeaseLost has_changed(const Operation& found);
};

}  // namespace lockstep
