#include "replicator/locks/lock_store.h"

namespace lockstep {

Error lock_is_busy(const LockName& name) {
  return Error(
      {"breaking the lock " + name.text(), "others take it at the same time", "try again", Retry::kLater});
}

}  // namespace lockstep
