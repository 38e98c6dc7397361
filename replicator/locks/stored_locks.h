// A lock manager over a store of locks and a journal: the part that every backend shares.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/locks/journal.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/locks/lock_store.h"

namespace lockstep {

class StoredLocks : public LockManager {
 public:
  std::chrono::milliseconds lease() const final { return lease_; }
  ServerTime now() final;
  Operation open(const OperationIntent& intent, LockSet locks) final;
  std::optional<Refusal> try_acquire(const Operation& operation, std::chrono::milliseconds place) final;
  std::optional<Refusal> try_again(const Operation& operation, const LockName& at,
                                   std::chrono::milliseconds place) final;
  std::optional<Refusal> try_extend(Operation& operation, const LockRequest& request) final;
  void downgrade(const Operation& operation, const LockName& name) final;
  void renew(Operation& operation) final;
  void commit(Operation& operation) final;
  void record(Operation& operation) final;
  void raise(Operation& operation, FencingToken above) final;
  void finish(Operation& operation, OperationState outcome, const std::string& reason) final;
  void release(const Operation& operation) final;
  Resolution resolve(const std::string& holder, const std::vector<LockName>& met, Adoption adoption) final;
  std::optional<Operation> find_operation(const std::string& id) final;
  std::vector<Operation> unresolved(const Unreadable& unreadable = refuse_unreadable) final;
  void prune(std::chrono::milliseconds age) final;
  std::optional<LockState> find_lock(const LockName& name) final;
  std::vector<LockState> locks(const Unreadable& unreadable = refuse_unreadable) final;
  Broken break_lock(const LockName& name, const std::string& by) final;

 protected:
  explicit StoredLocks(std::chrono::milliseconds lease);

  /// To be called by prepare().
  void use(std::unique_ptr<LockStore> store, std::unique_ptr<Journal> journal);

  enum class Place { kJournal, kLocks };

  /// Why one of the two is gone, because it was deleted; none: it is there. Asked before a renewal, which
  /// must not make it again; a backend that loses nothing need not answer.
  virtual std::optional<std::string> vanished(Place) { return std::nullopt; }

  /// Makes a vanished place again.
  virtual void restore() {}

 private:
  /// The same; remembers it for finish() and release(), which ask only then.
  std::optional<std::string> has_vanished(Place place);
  /// The operation's locks are gone. Returns if it could take them again, else throws LeaseLost.
  void lose(Operation& operation, const std::string& story);
  Resolution resolve_without_entry(const std::string& holder, const std::vector<LockName>& met);
  Broken break_holder(const LockName& name, const std::string& holder, const std::string& by);

  const std::chrono::milliseconds lease_;
  const std::string self_;  ///< signs its resolutions

  // From prepare():
  std::unique_ptr<LockStore> store_;
  std::unique_ptr<Journal> journal_;
  bool any_vanished_ = false;
};

}  // namespace lockstep
