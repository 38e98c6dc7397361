// What `lockstep run` is: the leadership loop, and beside it what tells others about it (the source, systemd,
// HTTP).
#pragma once

#include <stop_token>

#include "replicator/config/config.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/replicate.h"

namespace lockstep {

/// Runs the pipeline until `stop` is requested, or until it has caught up. `board` shows how far it is, to
/// whoever reads it meanwhile. Throws UsageError or Error when it cannot be done, now or later; servers that
/// are away are waited for.
void run_service(const Config& config, RunUntil until, ProgressBoard& board, const std::stop_token& stop);

}  // namespace lockstep
