// The work of `run`, for every command that ends with it.
#pragma once

#include "replicator/cli/options/pipeline_option.h"
#include "replicator/service/service.h"

namespace lockstep {

/// Loads the configuration, logs from then on, and replicates until SIGTERM, SIGINT or `until`. A SIGHUP
/// loads it again. Throws as run_service() does.
void follow_pipeline(PipelineOption& pipeline, RunUntil until);

}  // namespace lockstep
