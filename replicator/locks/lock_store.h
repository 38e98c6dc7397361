// A backend's store of the locks themselves, without the journal.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "replicator/error.h"
#include "replicator/locks/lock_manager.h"

namespace lockstep {

class LockStore {
 public:
  virtual ~LockStore() = default;

  /// The server's clock.
  virtual ServerTime now() = 0;

  struct Grant {
    std::string holder;
    std::chrono::milliseconds lease;
    std::chrono::milliseconds place = {};  ///< how long it waits in the queue of a refused lock; 0: not
    std::vector<std::string> under = {};   ///< holders that do not keep it out
  };

  /// Asks for all of them; none if the holder has them all, else the first refusal. After a refusal only
  /// places in queues remain of this call's gains, as in LockManager::try_acquire().
  virtual std::optional<Refusal> acquire_all(const LockSet& locks, const Grant& grant) = 0;

  /// As acquire_all(), after a refusal `at` one of them: cheap if it is refused there again.
  virtual std::optional<Refusal> acquire_again(const LockSet& locks, const LockName& at,
                                               const Grant& grant) = 0;

  /// Asks for one more. A refusal changes nothing, but for a place in its queue.
  virtual std::optional<Refusal> acquire_one(const LockRequest& request, const Grant& grant) = 0;

  struct Leave {
    std::string holder;
    bool only_expired = false;  ///< it leaves only if its lease in the lock has expired
  };

  /// Takes the holder out of each lock and its queue, in the opposite order. Does nothing if it is in none.
  virtual void release(const LockSet& locks, const Leave& leave) = 0;

  virtual void downgrade(const LockName& name, const std::string& holder) = 0;

  /// Starts the holder's leases in these locks again, if the store keeps leases next to the journal's.
  /// Returns the first lock that the holder no longer has.
  virtual std::optional<LockName> renew(const LockSet& locks, const std::string& holder,
                                        std::chrono::milliseconds lease) = 0;

  /// Reads a lock, refreshed or not; none if it has no holder.
  virtual std::optional<LockState> find(const LockName& name) = 0;

  /// All locks with a holder, in the order of their names.
  virtual std::vector<LockState> all(const Unreadable& unreadable) = 0;

  /// Takes the holders without a name out of a lock. Throws Error if others keep taking it meanwhile.
  virtual void remove_nameless(const LockName& name) = 0;

  /// Removes the remains of locks without holders or waiters.
  virtual void prune() = 0;
};

/// break_lock()'s error if others change the lock at each try.
Error lock_is_busy(const LockName& name);

}  // namespace lockstep
