// The checks of `check`, for every command that begins with them.
#pragma once

#include "replicator/config/config.h"
#include "replicator/exit_code.h"

namespace lockstep {

/// Prints the faults between a configuration and its two servers. kUsage: in the configuration, mappings or
/// views; kFailed: only elsewhere, such as a missing right or a server that does not answer.
ExitCode check_pipeline(const Config& config);

}  // namespace lockstep
