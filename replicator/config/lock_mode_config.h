// A configuration read for lock mode, which needs no index and nothing but the backend of the locks.
#pragma once

#include <filesystem>

#include "replicator/config/config.h"

namespace lockstep {

/// As load_config(), and takes a file with nothing but [elasticsearch] too, or with [source] and [locks] that
/// are kept there. A pipeline's file serves as well.
Config load_lock_mode_config(const std::filesystem::path& file);

}  // namespace lockstep
