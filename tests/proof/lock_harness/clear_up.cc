#include "tests/proof/lock_harness/clear_up.h"

#include "replicator/error.h"
#include "tests/support/eventually.h"

namespace lockstep::harness {

void clear_up(LockManager& locks, std::chrono::seconds patience, const std::function<void()>& sweep) {
  support::wait_until(
      [&] {
        try {
          sweep();
          return locks.locks().empty() && locks.unresolved().empty();
        } catch (const LeaseLost&) {
          return false;
        } catch (const Error& error) {
          if (!error.retryable()) throw;
          return false;
        }
      },
      patience);
}

void check_left(LockManager& locks, std::vector<std::string>& violations) {
  for (const LockState& lock : locks.locks()) violations.push_back("left: the lock " + lock.name.text());
  for (const Operation& open : locks.unresolved()) violations.push_back("left: the operation " + open.id);
}

}  // namespace lockstep::harness
