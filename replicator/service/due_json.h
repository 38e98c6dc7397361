// An index's due work in `lockstep status --json` and the status page.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "replicator/source/outbox/due.h"

namespace lockstep {

/// How long the due work still takes at this rate. None: its documents are not all found yet, or the rate is
/// 0.
std::optional<std::chrono::milliseconds> time_left(const DueList& due, double documents_per_second);

/// An object with the keys that docs/monitoring.md lists; null: nothing is due.
nlohmann::ordered_json due_json(const std::optional<DueList>& due, double documents_per_second);

}  // namespace lockstep
