// The status page on /: the pipeline's progress for a browser, in one self-contained piece of HTML that asks
// for itself again every few seconds.
#pragma once

#include <string>

#include "replicator/pipeline/progress.h"

namespace lockstep {

std::string status_page(const std::string& pipeline, const ReplicationProgress& progress, SteadyTime now);

}  // namespace lockstep
