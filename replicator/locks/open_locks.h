// Opens the lock manager that a configuration names.
#pragma once

#include <memory>

#include "replicator/config/config.h"
#include "replicator/locks/lock_manager.h"

namespace lockstep {

/// It connects at its first request.
std::unique_ptr<LockManager> open_locks(const Config& config);

}  // namespace lockstep
