// `lockstep run`: the leadership loop, and its reports to the source, systemd and HTTP.
#pragma once

#include <stop_token>

#include "replicator/pipeline/leader.h"
#include "replicator/pipeline/progress.h"
#include "replicator/service/live_config.h"

namespace lockstep {

/// Runs the pipeline until `stop` is requested or until it has caught up. Shows its progress on `board`.
/// Waits for servers that are away, and, once it has been up, for the operator to fix a server's refusal.
/// When other values of `live` are in force, it finishes the requests in flight and begins again with them.
/// Throws UsageError or Error for everything else that goes wrong.
void run_service(const LiveConfig& live, RunUntil until, ProgressBoard& board, const std::stop_token& stop);

}  // namespace lockstep
