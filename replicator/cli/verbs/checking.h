// What `check` does, for every command that begins with it.
#pragma once

#include "replicator/config/config.h"

namespace lockstep {

/// Prints what is wrong between a configuration and its two servers. Returns whether nothing is an error.
bool check_pipeline(const Config& config);

}  // namespace lockstep
