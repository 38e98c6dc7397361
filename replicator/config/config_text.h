// Configurations as TOML, by the table of keys: the values in force, and a sample with every key.
#pragma once

#include <string>

#include "replicator/config/config.h"

namespace lockstep {

/// The values in force, with defaults; secrets as "(secret)".
std::string config_text(const Config& config);

/// A configuration with every key and its description. Required keys have their example; the others are
/// commented out, with their default or else their example.
std::string sample_config();

}  // namespace lockstep
