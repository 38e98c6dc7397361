// `lockstep dead-letters retry`.
#pragma once

#include "replicator/config/config.h"
#include "replicator/exit_code.h"
#include "replicator/source/source.h"

namespace lockstep {

/// Writes the documents of the dead letters that match, as the view gives them now, and waits until that is
/// done. Prints those that Elasticsearch still refuses; the exit code is kFailed then. Throws as
/// finish_jobs().
ExitCode retry_dead_letters(const Config& config, Source& source, const DeadLetterFilter& filter);

}  // namespace lockstep
