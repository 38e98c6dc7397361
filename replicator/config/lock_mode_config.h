// A configuration read for lock mode, which needs neither a source nor an index.
#pragma once

#include <filesystem>

#include "replicator/config/config.h"

namespace lockstep {

/// As load_config(), and takes a file with nothing but [elasticsearch] too. A pipeline's file serves as well.
Config load_lock_mode_config(const std::filesystem::path& file);

}  // namespace lockstep
