// The locks themselves, apart from the journal: what a backend needs of the place where they are kept.
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
    std::chrono::milliseconds mark;  ///< 0: none
  };

  /// Asks for all of them: none when they are had, else the first that was refused, and then nothing is left
  /// of what this call gained but marks.
  virtual std::optional<Refusal> acquire_all(const LockSet& locks, const Grant& grant) = 0;

  /// Asks for one more. Nothing has changed when it is refused, but for a mark.
  virtual std::optional<Refusal> acquire_one(const LockRequest& request, const Grant& grant) = 0;

  struct Leave {
    std::string holder;
    bool keep_mark = false;     ///< its waiting marks stay
    bool only_expired = false;  ///< it leaves only where its lease in the lock has run out
  };

  /// Takes a holder out of each, in the opposite order. Nothing changes where it is none.
  virtual void release(const LockSet& locks, const Leave& leave) = 0;

  virtual void downgrade(const LockName& name, const std::string& holder) = 0;

  /// Lets the leases in the locks begin anew, as far as they are the holder's and the journal does not tell
  /// them.
  virtual void renew(const LockSet& locks, const std::string& holder, std::chrono::milliseconds lease) = 0;

  /// Reads what has been written; none when it is free.
  virtual std::optional<LockState> find(const LockName& name) = 0;

  /// All that are held, in the order of their names.
  virtual std::vector<LockState> all() = 0;

  /// Ends what holders without a name have of a lock. Throws Error when others take it meanwhile.
  virtual void remove_nameless(const LockName& name) = 0;

  /// Clears up what nobody holds or waits for any more, where something like that is left.
  virtual void prune() = 0;
};

/// What break_lock() throws when it comes to no end.
Error lock_is_busy(const LockName& name);

}  // namespace lockstep
