// Once every client is dead: the survivor that clears up, and the check that it left nothing.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "replicator/locks/lock_manager.h"

namespace lockstep::harness {

/// Calls `sweep` until nothing is locked and no operation is unresolved, or `patience` is over.
void clear_up(LockManager& locks, std::chrono::seconds patience, const std::function<void()>& sweep);

/// Adds a violation for each lock and for each unresolved operation that is left.
void check_left(LockManager& locks, std::vector<std::string>& violations);

}  // namespace lockstep::harness
