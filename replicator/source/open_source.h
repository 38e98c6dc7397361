// Opens a connection to the pipeline's source, whichever database it is.
#pragma once

#include <memory>
#include <string>

#include "replicator/config/config.h"
#include "replicator/source/source.h"

namespace lockstep {

/// `purpose` names the connection in the source's list of sessions ("tail", "status"). Throws Error when the
/// source cannot be reached.
std::unique_ptr<Source> open_source(const Config& config, const std::string& purpose);

}  // namespace lockstep
