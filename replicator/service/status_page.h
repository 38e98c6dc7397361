// The status page on /: the pipeline's progress for a browser, as one self-contained HTML page that
// reloads itself every two seconds.
#pragma once

#include <string>

#include "replicator/pipeline/progress.h"

namespace lockstep {

std::string status_page(const std::string& pipeline, const ReplicationProgress& progress, SteadyTime now);

}  // namespace lockstep
