// Configurations as text: what is in force, and a sample of everything that could be. Both by the table of
// keys.
#pragma once

#include <string>

#include "replicator/config/config.h"

namespace lockstep {

/// The configuration in force as TOML, defaults included; secrets as "(secret)".
std::string config_text(const Config& config);

/// A commented configuration with every key: what is required with its example, the rest commented out with
/// its default or else its example.
std::string sample_config();

}  // namespace lockstep
