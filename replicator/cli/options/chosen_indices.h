// The indices that a command line names by their aliases.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/applied.h"

namespace lockstep {

/// The pipeline's indices with these aliases, in that order; without aliases all. They point into `pipeline`.
/// Throws UsageError for an alias that the pipeline does not have.
std::vector<const AppliedIndex*> chosen_indices(const AppliedPipeline& pipeline,
                                                const std::vector<std::string>& aliases);

}  // namespace lockstep
