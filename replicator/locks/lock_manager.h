// Locks for data that lives in Elasticsearch only: the interface of a backend, and the promises of every
// backend.
//
//   auto locks = open_locks(config);
//   Operation operation = locks->open({.kind = "lock"}, tree_locks({"/clinton"}));
//   if (const auto refusal = acquire(*locks, operation, roll_forward, {.limit = 30s})) return busy(*refusal);
//   locks->commit(operation);                // every data write carries operation.token
//   … renew(operation) at least once a third of the lease …
//   locks->finish(operation, OperationState::kDone, "");
//   locks->release(operation);
//
// L1. An operation's journal entry exists before its first lock.
//
// L2. A lock is never taken from an operation that the journal has as pending or running. A process that
// wants the lock resolves that operation first (resolve()), and only after its lease has expired by the
// server's clock.
//
// L3. Every change of a journal entry is a compare-and-set. An owner that finds another version has been
// deposed: LeaseLost.
//
// L4. An operation gets a set of locks as a whole or not at all, and never waits while it holds some of a
// set. Hence no deadlock.
//
// L5. Each token is greater than all that were drawn before it. It is drawn under the locks, before the
// commit or the adoption: so tokens grow in the order of a lock's holders.
//
// L6. Each answer about a lock was true at the server at one moment. Nothing depends on a search seeing the
// latest writes, except locks() and unresolved(), which refresh first.
//
// Leases only decide when another process may act. If a holder wakes up after its lease, L3 and the fencing
// tokens keep it from doing harm (Kleppmann, "How to do distributed locking", 2016), never a clock.
//
// A lock whose holder has no journal entry belongs to a client that uses the lock requests alone
// (docs/lock-protocol.md): its lease is the one in the lock. A lock in the book's own format has no lease: it
// counts until it is released or broken by hand.
//
// Not thread-safe: one for each thread. Every function throws Error if it cannot ask the server or the server
// refuses, and if a stored lock or journal entry has a value that this Lockstep does not know.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "replicator/error.h"
#include "replicator/locks/lock_name.h"
#include "replicator/locks/operation.h"

namespace lockstep {

/// Another process resolved or adopted the operation: this owner is deposed and must write nothing more.
class LeaseLost : public std::runtime_error {
 public:
  LeaseLost(const std::string& what, bool over) : std::runtime_error(what), over_(over) {}

  /// True: the operation is over (aborted), and this owner should release() its locks since then. False: an
  /// adopter works under its locks, and this owner must not release them.
  bool over() const { return over_; }

 private:
  bool over_;
};

struct LockHolder {
  std::string id;                   ///< an operation's, or a foreign client's name for itself; may be empty
  std::optional<ServerTime> until;  ///< end of its lease; none for a lock in the book's format
  bool operator==(const LockHolder&) const = default;
};

/// The server's knowledge of a lock.
struct LockState {
  LockName name;
  LockMode mode = LockMode::kExclusive;
  std::int64_t count = 0;                ///< of all holders, with and without a name
  std::vector<LockHolder> holders = {};  ///< those with a name, in the order of their ids
  std::vector<LockHolder> waiting =
      {};  ///< the queue, and until when each keeps its place without asking again
};

/// Why a set of locks was refused: the first lock in the way.
struct Refusal {
  LockState lock;
  ServerTime now = {};  ///< the server's clock when it refused
  bool queued = false;  ///< no holder is in the caller's way, but others have waited for longer
  std::optional<std::size_t> ahead =
      {};  ///< so many wait before the caller; none: it has no place in the queue
  std::string unfinished =
      {};  ///< a holder that died in the middle of a change, which the caller cannot finish
};

/// "/clinton is locked exclusively by web1-4711-… until 12:00:05 (3.2 s from now)"
std::string text_of(const Refusal& refusal);

/// Whether the caller can adopt an operation whose owner died after the commit.
enum class Adoption { kRefused, kAllowed };

/// The resolution of an operation that was in the way.
struct Resolution {
  enum class Kind {
    kAlive,             ///< its lease runs until `until`
    kGone,              ///< it is over, and its locks are released
    kAdopted,           ///< the caller owns it now, and must roll `operation` forward, finish and release it
    kNeedsRollForward,  ///< its owner died after the commit, and the caller refused to adopt it
  };
  Kind kind = Kind::kAlive;
  std::optional<ServerTime> until = {};
  std::optional<Operation> operation = {};  ///< of kAdopted and kNeedsRollForward
};

/// The result of break_lock().
enum class Broken {
  kReleased,          ///< the lock is free; operations that held it are aborted
  kNotLocked,         ///< it had no holder
  kNeedsRollForward,  ///< the holder has changed half of its data: recover it instead
};

/// Receives the error of each unreadable lock or entry, so that one does not hide the others.
using Unreadable = std::function<void(const Error&)>;

/// For callers that must know all: throws it.
[[noreturn]] inline void refuse_unreadable(const Error& error) {
  throw error;
}

class LockManager {
 public:
  virtual ~LockManager() = default;

  /// Creates the indices and scripts, or the tables, that are missing. Idempotent, and safe while other
  /// processes do the same. Call it once before anything else.
  virtual void prepare() = 0;

  /// Instead of prepare(), for readers: makes nothing. False if there are no locks here yet; nothing else may
  /// be called then. After true, functions that change locks or the journal may not be called.
  virtual bool attach() = 0;

  virtual std::chrono::milliseconds lease() const = 0;

  /// The server's clock.
  virtual ServerTime now() = 0;

  /// Writes the journal entry of a new operation: pending, with a lease, naming every lock it will ask for.
  virtual Operation open(const OperationIntent& intent, LockSet locks) = 0;

  /// Asks once for all of operation.locks; none if the operation holds them all. Locks are re-entrant for
  /// their operation. After a refusal it gives back the locks that this call gained. A `place` greater than 0
  /// keeps a place for that long in the queue of the first lock in the way: no later operation gets that lock
  /// first, unless both share it. The operation keeps its places at exclusive locks that come before in the
  /// order of the names, and gives up those behind; so no two wait for one another.
  /// REQUIRES: pending.
  virtual std::optional<Refusal> try_acquire(const Operation& operation, std::chrono::milliseconds place) = 0;

  /// As try_acquire(), but asks for the lock `at` first, which has refused it before, and only then for all:
  /// so it is cheap to ask again. REQUIRES: `at` is one of operation.locks.
  virtual std::optional<Refusal> try_again(const Operation& operation, const LockName& at,
                                           std::chrono::milliseconds place) = 0;

  /// Makes a shared lock of the operation exclusive, or asks for one lock more: once, without waiting, since
  /// the operation holds others (L4). Throws LeaseLost.
  virtual std::optional<Refusal> try_extend(Operation& operation, const LockRequest& request) = 0;

  /// Makes an exclusive lock of the operation shared. Does nothing when the operation does not hold it.
  virtual void downgrade(const Operation& operation, const LockName& name) = 0;

  /// Starts the lease again. Throws LeaseLost, also if a lock of the operation is gone, because it or its
  /// index was deleted; a change that others would have to finish takes it again, if it can.
  /// REQUIRES: the operation holds its locks.
  virtual void renew(Operation& operation) = 0;

  // commit(), finish() with kDone, and release() after it keep trying for up to a lease while the server is
  // away or too busy.

  /// pending → running: from here on the operation has happened. Sets token and commit, and starts the lease
  /// again. REQUIRES: the operation holds its locks. Throws LeaseLost, and then the caller must write
  /// nothing.
  virtual void commit(Operation& operation) = 0;

  /// Writes operation.task and operation.progress to the journal, and starts the lease again. Throws
  /// LeaseLost.
  virtual void record(Operation& operation) = 0;

  /// Gives the operation a new token, greater than `above`, and starts the lease again. Throws LeaseLost.
  /// Throws Error if `above` is greater than kMostExceeded. REQUIRES: running.
  virtual void raise(Operation& operation, FencingToken above) = 0;

  /// pending → aborted, or running → done; `reason` is for people. Throws LeaseLost.
  virtual void finish(Operation& operation, OperationState outcome, const std::string& reason) = 0;

  /// Gives back all locks of the operation and its places in queues, from the longest name to the shortest.
  /// Other holders keep theirs. A resolved entry of kind "lock" leaves the journal; others stay as history.
  virtual void release(const Operation& operation) = 0;

  /// Resolves a holder: aborts or adopts it if it is dead (L2), and releases its locks if it is over, also
  /// those at which the caller `met` it. Throws LeaseLost if another process resolves it at the same time:
  /// ask again.
  virtual Resolution resolve(const std::string& holder, const std::vector<LockName>& met,
                             Adoption adoption) = 0;

  /// A journal entry; none if the journal has none.
  virtual std::optional<Operation> find_operation(const std::string& id) = 0;

  /// All entries that are pending or running.
  virtual std::vector<Operation> unresolved(const Unreadable& unreadable = refuse_unreadable) = 0;

  /// Removes entries that were resolved longer than `age` ago. Their locks have expired by then.
  virtual void prune(std::chrono::milliseconds age) = 0;

  /// A lock; none if it has no holder.
  virtual std::optional<LockState> find_lock(const LockName& name) = 0;

  /// All locks with a holder, in the order of their names.
  virtual std::vector<LockState> locks(const Unreadable& unreadable = refuse_unreadable) = 0;

  /// Frees a lock by hand, whether its holder lives or not, in the book's format or not. The journal entries
  /// of the operations that lose it name `by`.
  virtual Broken break_lock(const LockName& name, const std::string& by) = 0;
};

}  // namespace lockstep
