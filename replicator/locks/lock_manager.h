// Locks that outlive nobody: what a backend offers, and what holds whichever it is.
//
//   auto locks = open_locks(config);
//   Operation operation = locks->open({.kind = "lock"}, tree_locks({"/clinton"}));
//   if (const auto refusal = acquire(*locks, operation, {.limit = 30s}, …)) return busy(*refusal);
//   locks->commit(operation);                // operation.token goes into every data write
//   … renew(operation) at least once a third of the lease …
//   locks->finish(operation, OperationState::kDone);
//   locks->release(operation);
//
// Invariants
//   L1  An operation's journal entry exists before its first lock.
//   L2  A lock is never taken from an operation that the journal has as pending or running: who wants it
//       resolves that operation first (resolve()), and only after its lease has run out by the server's
//       clock.
//   L3  Every change of a journal entry is a compare-and-set. Who finds another version has been deposed:
//       LeaseLost.
//   L4  A set of locks is had as a whole or not at all, and nobody waits while it holds some of a set. Hence
//       no deadlock.
//   L5  Tokens grow in the order of commits and adoptions.
//   L6  Each answer about a lock is true at the server at one moment; nothing depends on a search seeing what
//       was just written, except locks() and unresolved(), which see to it themselves.
// Leases only decide when somebody else may act. That nothing goes wrong when a holder wakes up after its
// lease rests on L3 and on the fencing tokens (Kleppmann, "How to do distributed locking", 2016), never on
// clocks.
//
// A lock without an entry in the journal is a client's that uses the lock requests alone (docs/locks.md): its
// lease is the one in the lock. A lock in the book's own format has no lease: it is respected until it is
// released or broken by hand.
//
// Not thread-safe: one for each thread. Every function throws Error as the rest of the program does when the
// server cannot be asked or refuses.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "replicator/locks/lock_name.h"
#include "replicator/locks/operation.h"

namespace lockstep {

/// This owner of an operation has been deposed: somebody resolved or adopted it. It must write nothing more.
class LeaseLost : public std::runtime_error {
 public:
  LeaseLost(const std::string& what, bool over) : std::runtime_error(what), over_(over) {}

  /// Whether the operation is over (aborted), so that release() is in nobody's way and clears up what this
  /// owner may have locked since. Otherwise an adopter works under its locks: they must not be released.
  bool over() const { return over_; }

 private:
  bool over_;
};

struct LockHolder {
  std::string id;                   ///< an operation's, or what a foreign client calls itself; may be empty
  std::optional<ServerTime> until;  ///< its lease; none: a lock of the book's format, which has none
  bool operator==(const LockHolder&) const = default;
};

/// A lock as it is.
struct LockState {
  LockName name;
  LockMode mode = LockMode::kExclusive;
  std::int64_t count = 0;                  ///< of holders, with those that have no name
  std::vector<LockHolder> holders = {};    ///< those that have one, in the order of their ids
  std::optional<LockHolder> waiting = {};  ///< whom new sharers are kept back for, and for how long
};

/// Why a set of locks was not to be had: the first lock that stood in the way.
struct Refusal {
  LockState lock;
  ServerTime now = {};  ///< the server's clock when it refused
  bool queued = false;  ///< nobody is in the way but one who waits for the exclusive lock
};

/// "/clinton is locked exclusively by web1-4711-… until 12:00:05 (3.2 s from now)"
std::string text_of(const Refusal& refusal);

/// Whether an operation that is dead after its commit may be adopted by the caller.
enum class Adoption { kRefused, kAllowed };

/// What has become of an operation that was in the way.
struct Resolution {
  enum class Kind {
    kAlive,    ///< its lease runs until `until`
    kGone,     ///< it is over and its locks are released
    kAdopted,  ///< it is the caller's now, who has to roll `operation` forward, finish and release it
    kNeedsRollForward,  ///< it is dead after its commit, and the caller refused to adopt it
  };
  Kind kind = Kind::kAlive;
  std::optional<ServerTime> until = {};
  std::optional<Operation> operation = {};  ///< of kAdopted and kNeedsRollForward
};

/// How break_lock() ended.
enum class Broken {
  kReleased,          ///< the lock is free; operations that held it are aborted
  kNotLocked,         ///< there was none
  kNeedsRollForward,  ///< an operation holds it whose data is half changed: it has to be recovered instead
};

class LockManager {
 public:
  virtual ~LockManager() = default;

  /// Creates what the backend needs and does not have yet: indices and scripts, or tables. Idempotent, and
  /// safe beside others who do the same. To be called once before anything else.
  virtual void prepare() = 0;

  /// How long a lease is.
  virtual std::chrono::milliseconds lease() const = 0;

  /// The server's clock.
  virtual ServerTime now() = 0;

  /// Writes the journal entry of a new operation: pending, with a lease, naming all locks it will ask for.
  virtual Operation open(const OperationIntent& intent, LockSet locks) = 0;

  /// Asks once for all of operation.locks: none when they are had (again, if they were had before: a lock is
  /// re-entrant for its operation). Refused, the locks that this call gained are given back. `mark` leaves a
  /// mark at an exclusive lock that is refused, which keeps new sharers out for so long: without it a stream
  /// of sharers would starve who wants a directory for itself.
  /// REQUIRES: pending.
  virtual std::optional<Refusal> try_acquire(const Operation& operation, std::chrono::milliseconds mark) = 0;

  /// Makes a shared lock of the operation exclusive, or asks for one lock more: once, without waiting, since
  /// it holds others (L4). The entry in the journal names it from then on, whatever the answer.
  /// Throws LeaseLost.
  virtual std::optional<Refusal> try_extend(Operation& operation, const LockRequest& request) = 0;

  /// Makes an exclusive lock of the operation a shared one. Nothing changes when it is not the holder.
  virtual void downgrade(const Operation& operation, const LockName& name) = 0;

  /// Lets the lease begin anew. Throws LeaseLost.
  virtual void renew(Operation& operation) = 0;

  /// pending → running: the point from which the operation has happened. Sets token and commit, begins the
  /// lease anew. REQUIRES: the locks are held. Throws LeaseLost, and then nothing must be written.
  virtual void commit(Operation& operation) = 0;

  /// Notes operation.task and operation.progress, and begins the lease anew. Throws LeaseLost.
  virtual void record(Operation& operation) = 0;

  /// pending → aborted or running → done (with `reason`, for people). Throws LeaseLost.
  virtual void finish(Operation& operation, OperationState outcome, const std::string& reason) = 0;

  /// Gives back all locks and marks of the operation, from the longest name to the shortest, whoever else
  /// holds them too. A resolved entry of kind "lock" leaves the journal; others stay as its history.
  virtual void release(const Operation& operation) = 0;

  /// What has become of a holder, and of its locks: aborts or adopts what is dead (L2), releases what is
  /// over, also at the locks where it was `met`, if anywhere. Throws LeaseLost when somebody else resolves it
  /// at the same time: ask again.
  virtual Resolution resolve(const std::string& holder, const std::vector<LockName>& met,
                             Adoption adoption) = 0;

  /// A journal entry; none if there is none (any more).
  virtual std::optional<Operation> find_operation(const std::string& id) = 0;

  /// All entries that are pending or running.
  virtual std::vector<Operation> unresolved() = 0;

  /// Removes entries that were resolved longer than `age` ago. Their locks have expired since.
  virtual void prune(std::chrono::milliseconds age) = 0;

  /// A lock; none when it is free.
  virtual std::optional<LockState> find_lock(const LockName& name) = 0;

  /// All locks, in the order of their names.
  virtual std::vector<LockState> locks() = 0;

  /// By hand, for what nobody releases: frees the lock whoever holds it, living or dead, in the book's format
  /// or not. `by` is noted in the journal of the operations that lose it.
  virtual Broken break_lock(const LockName& name, const std::string& by) = 0;
};

}  // namespace lockstep
