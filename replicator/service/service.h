// `lockstep run`: the leadership loop, and what tells the source, systemd and HTTP about it.
#pragma once

#include <stop_token>

#include "replicator/config/config.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/replicate.h"

namespace lockstep {

/// Runs the pipeline until `stop` is requested or until it has caught up. Shows its progress on `board`.
/// Waits for servers that are away; throws UsageError or Error for everything else that goes wrong.
void run_service(const Config& config, RunUntil until, ProgressBoard& board, const std::stop_token& stop);

}  // namespace lockstep
