// The lock manager that a configuration names.
#pragma once

#include <memory>

#include "replicator/config/config.h"
#include "replicator/locks/lock_manager.h"

namespace lockstep {

/// Connects when it is first asked.
std::unique_ptr<LockManager> open_locks(const Config& config);

}  // namespace lockstep
