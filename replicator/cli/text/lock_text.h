// Locks and journal entries as `lockstep locks` prints them.
#pragma once

#include <string>
#include <vector>

#include "replicator/locks/lock_manager.h"

namespace lockstep {

/// A line for each holder, with line feed:
///   /clinton  exclusive  web1-4711-…  until 2026-01-31T12:00:05.250Z (in 3.2 s)
std::string lock_lines(const LockState& lock, ServerTime now);

/// One line, with line feed:
///   web1-4711-…  mv /clinton /hillary fs  running, token 17, 4,711 done  until …
std::string operation_line(const Operation& operation, ServerTime now);

/// One JSON object on a line, with line feed. `now` is the server's time, by which its leases run.
std::string lock_json_line(const LockState& lock, ServerTime now);
std::string operation_json_line(const Operation& operation, ServerTime now);

}  // namespace lockstep
