// Reads a configuration for lock mode, which needs no index, only the backend of the locks.
#pragma once

#include <filesystem>

#include "replicator/config/config.h"

namespace lockstep {

/// As load_config(), but also accepts a file with [elasticsearch] only, or with [source] and [locks] that are
/// kept there. A pipeline's file will do, too.
Config load_lock_mode_config(const std::filesystem::path& file);

}  // namespace lockstep
