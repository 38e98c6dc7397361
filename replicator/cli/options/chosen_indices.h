// The indices that a command line names by their aliases.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/source.h"

namespace lockstep {

/// Of the pipeline those of `aliases`, in that order; all when there are none. They point into `pipeline`.
/// Throws UsageError for an alias that the pipeline does not have.
std::vector<const AppliedIndex*> chosen_indices(const AppliedPipeline& pipeline,
                                                const std::vector<std::string>& aliases);

}  // namespace lockstep
