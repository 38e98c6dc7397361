// The survivor, once everybody is dead, and what it must have left nothing of.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "replicator/locks/lock_manager.h"

namespace lockstep::harness {

/// Calls `sweep` again and again until nothing is locked and no operation is open, or `patience` is at its
/// end.
void clear_up(LockManager& locks, std::chrono::seconds patience, const std::function<void()>& sweep);

/// Adds a violation for each lock that is left, and for each operation that is open.
void check_left(LockManager& locks, std::vector<std::string>& violations);

}  // namespace lockstep::harness
